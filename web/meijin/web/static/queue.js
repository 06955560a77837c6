/** Waiting for a game: the page is looked up anew whenever its queue has moved. */

let part = document.getElementById("queue");
let source = null;

async function renew() {
  const answer = await fetch(location.pathname);
  if (answer.redirected) {
    location.assign(answer.url);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const newer = page.getElementById("queue");
  if (!newer) return;
  part.replaceWith(newer);
  part = newer;
  if (!part.dataset.events) source.close();
}

if (part.dataset.events) {
  source = new EventSource(part.dataset.events);
  source.onmessage = (event) => {
    if (event.data !== part.dataset.mark) renew();
  };
}
