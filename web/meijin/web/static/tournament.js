/**
 * The page of a tournament that runs: when games of it have ended, its parts with `data-fresh` are
 * what the page would have in their places if it were loaded now.
 */

import { LiveStream } from "./live.js";

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
    for (const part of document.querySelectorAll("[data-fresh]")) renew(part, page.getElementById(part.id));
    if (!document.querySelector(LIVE)) clearInterval(idle); // it is over
  } catch {
    due(); // the server is away
  }
}

/** Puts a part in another's place, if it is not the same; what was focused, scrolled or unfolded stays so. */
function renew(part, newer) {
  if (!newer || newer.innerHTML === part.innerHTML) return;
  const focused = places(part).indexOf(document.activeElement);
  const scrolled = frames(part).map((frame) => frame.scrollLeft);
  const unfolded = new Set(folds(part).filter((fold) => fold.open).map(nameOf));
  part.replaceWith(newer);
  for (const fold of folds(newer)) fold.open ||= unfolded.has(nameOf(fold));
  for (const [index, frame] of frames(newer).entries()) frame.scrollLeft = scrolled[index] ?? 0;
  places(newer)[focused]?.focus({ preventScroll: true });
}

const frames = (part) => [part, ...part.querySelectorAll("[tabindex]")];
const folds = (part) => [...part.querySelectorAll("details")];
const nameOf = (fold) => fold.querySelector("summary").textContent;
const places = (part) => [part, ...part.querySelectorAll("a, summary, [tabindex]")];

new LiveStream([document.querySelector(LIVE).dataset.live], {
  game: ({ id, game }) => {
    if (!game.ended || ended.has(id)) return;
    ended.add(id);
    due();
  },
  over: due,
});
