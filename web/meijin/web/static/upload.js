/** The form for a program: what is sent is shown as it goes, and a refusal keeps what was chosen. */

for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

function send(form) {
  const [file] = form.elements.file.files;
  if (file.size > Number(form.dataset.most)) {
    refuse(form, form.dataset.tooLarge);
    return;
  }
  const request = new XMLHttpRequest();
  const progress = form.querySelector("progress");
  request.upload.addEventListener("progress", ({ loaded, total }) => (progress.value = loaded / total));
  request.addEventListener("load", () => end(form, request));
  request.addEventListener("error", () => refuse(form, form.dataset.failed));
  request.open("POST", form.action);
  request.responseType = "document";
  show(form, true);
  request.send(new FormData(form));
}

/** Goes on to the program, or says why there is none. */
function end(form, { status, responseURL, response }) {
  if (status === 200) {
    location.assign(responseURL);
    return;
  }
  const said = response?.querySelector("[data-refused]") ?? response?.querySelector("main p");
  refuse(form, said?.textContent || form.dataset.failed);
}

function refuse(form, words) {
  show(form, false);
  const place = form.querySelector("[data-refused]");
  place.hidden = false;
  place.textContent = words;
}

function show(form, isSending) {
  const progress = form.querySelector("progress");
  progress.value = 0;
  progress.hidden = !isSending;
  form.querySelector("button").disabled = isSending;
  form.querySelector("[data-refused]").hidden = true;
}
