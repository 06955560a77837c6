/**
 * The page of a tournament that runs: when games of it have ended, its parts with `data-fresh` are
 * what the page would have in their places if it were loaded now.
 */

import { LiveStream } from "./live.js";
import { renew } from "./renewal.js";

/** Between two looks; longer than the server keeps a page. */
const LOOK_MS = 4000;

/** Games that a worker plays are told of by no stream: these are looked for now and then. */
const IDLE_MS = 60_000;

const LIVE = "[data-live^='tournament:']";
const ended = new Set();
let timer = 0;
const idle = setInterval(() => document.hidden || due(), IDLE_MS);

function due() {
  timer ||= setTimeout(look, LOOK_MS);
}

async function look() {
  timer = 0;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const newer = page.getElementById(part.id);
      if (newer && newer.innerHTML !== part.innerHTML) renew(part, newer);
    }
    if (!document.querySelector(LIVE)) clearInterval(idle); // it is over
  } catch {
    due(); // the server is away
  }
}

new LiveStream([document.querySelector(LIVE).dataset.live], {
  game: ({ id, game }) => {
    if (!game.ended || ended.has(id)) return;
    ended.add(id);
    due();
  },
  over: due,
});
