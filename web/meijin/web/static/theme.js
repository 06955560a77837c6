/** The colours of the page: the system's, or what the reader has chosen here. */

const KEY = "meijin-theme";

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is turned off
  }
}

function apply(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function toggle() {
  const theme = isDark() ? "light" : "dark";
  apply(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // storage is turned off: the choice lasts as long as the page
  }
  document.dispatchEvent(new CustomEvent("meijin:theme", { detail: theme }));
}

apply(chosen());
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.hidden = false;
    button.addEventListener("click", toggle);
  }
});
