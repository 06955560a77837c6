/**
 * Buttons that copy a text, or where a link leads: `<button data-copy="ID" data-done="Copied" hidden>Copy</button>`.
 *
 * They are hidden where the browser lets no page copy.
 */

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.href ?? source.textContent);
  button.textContent = button.dataset.done;
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => copy(button));
  }
}
