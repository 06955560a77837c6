/** A position that is analysed: stones are put by clicks, and a bot is asked. */

import { Board } from "./board.js";

const SVG = "http://www.w3.org/2000/svg";
const root = document.getElementById("analysis");
const { width, height, variant } = root.dataset;
const part = (name) => root.querySelector(`[data-${name}]`);
const numbers = (text) => (text ? text.split(" ").map(Number) : []);

const svg = document.createElementNS(SVG, "svg");
part("board").replaceChildren(svg);
const board = new Board(svg, { width: Number(width), height: Number(height) });
const form = part("ask");
const STEPS = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => line.length };

/** The moves that led to the position, and those that are known to come after. */
let line = numbers(root.dataset.line);
let ply = Number(root.dataset.ply);
/** Where no stone may be placed, which the server knows of the position that was asked for. */
let forbidden = numbers(root.dataset.forbidden);

const names = (cells) => cells.map((cell) => board.name(cell)).join("");

function address(page, to) {
  return `/${page}?${new URLSearchParams({ variant, moves: names(line), ply: to })}`;
}

function show() {
  const pv = numbers(document.getElementById("found").dataset.pv);
  board.show({ moves: line, ply, pv, forbidden: pv.length ? [] : forbidden });
  for (const each of root.querySelectorAll("[name=moves]")) each.value = names(line.slice(0, ply));
  for (const link of root.querySelectorAll("[data-step]")) {
    const to = STEPS[link.dataset.step]();
    if (to >= 0 && to <= line.length && to !== ply) link.href = address("analysis", to);
    else link.removeAttribute("href");
  }
  part("play").href = address("play", ply);
}

/** Shows another position, in which nothing is found yet. */
function go(to) {
  ply = to;
  forbidden = [];
  const found = document.getElementById("found");
  found.replaceChildren();
  delete found.dataset.pv;
  history.replaceState(null, "", address("analysis", ply));
  show();
}

board.onCell((cell) => {
  if (board.stone(cell) || forbidden.includes(cell)) return;
  if (line[ply] !== cell) line = [...line.slice(0, ply), cell];
  go(ply + 1);
});
part("help").hidden = false;
for (const link of root.querySelectorAll("[data-step]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (link.hasAttribute("href")) go(STEPS[link.dataset.step]());
  });
}
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const asked = ply;
  part("submit").disabled = true;
  try {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("found");
    if (found && asked === ply) document.getElementById("found").replaceWith(found);
  } finally {
    part("submit").disabled = false;
  }
  show();
});
show();
