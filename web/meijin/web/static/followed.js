/** A page that is followed: its part with a mark is looked up anew whenever its events name another. */

import { renew } from "./renewal.js";

/** A browser comes back by itself, but not to a server that has refused it. */
const COME_BACK_MS = 20_000;

let part = document.querySelector("[data-mark]");
let source = null;

async function look() {
  const answer = await fetch(location.pathname);
  if (answer.redirected) {
    location.assign(answer.url);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const newer = page.getElementById(part.id);
  if (!newer) return;
  renew(part, newer);
  part = newer;
  if (!part.dataset.events) source.close();
}

function follow() {
  if (!part.dataset.events) return;
  source = new EventSource(part.dataset.events);
  source.onmessage = (event) => {
    if (event.data !== part.dataset.mark) look();
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, COME_BACK_MS); // it was refused
  };
}

follow();
