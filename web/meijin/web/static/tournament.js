/**
 * The page of a tournament that runs: when games of it have ended, its parts with `data-fresh` are
 * what the page would have in their places if it were loaded now.
 */

import { LiveStream } from "./live.js";

/** Between two looks; longer than the server keeps a page. */
const LOOK_MS = 4000;

const root = document.querySelector("[data-live^='tournament:']");
const ended = new Set();
let timer = 0;

function due() {
  timer ||= setTimeout(look, LOOK_MS);
}

async function look() {
  timer = 0;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-fresh]")) renew(part, page.getElementById(part.id));
  } catch {
    due(); // the server is away
  }
}

/** Leaves a part alone that is the same, so that what is focused or unfolded in it stays so. */
function renew(part, newer) {
  if (newer && newer.innerHTML !== part.innerHTML) part.replaceWith(newer);
}

new LiveStream([root.dataset.live], {
  game: ({ id, game }) => {
    if (!game.ended || ended.has(id)) return;
    ended.add(id);
    due();
  },
  over: due,
});
