/** A person's game: the board to play on, and what the server tells of the game. */

import { Board } from "./board.js";

const table = document.getElementById("table");
const { action, width, height } = table.dataset;
const SVG = "http://www.w3.org/2000/svg";

const part = (name) => table.querySelector(`[data-${name}]`);
const svg = document.createElementNS(SVG, "svg");
part("board").replaceChildren(svg);
const board = new Board(svg, { width: Number(width), height: Number(height) });

/** Whether a finger may have meant the cell beside: the stone is confirmed then. */
const isCoarse = matchMedia("(pointer: coarse)").matches;

let state = JSON.parse(table.dataset.state);
let toldAt = performance.now();
let hint = table.dataset.hint ? Number(table.dataset.hint) : undefined;
/** Cells that were picked for stones that are placed together, or that are to be confirmed. */
let picked = [];
let source = null;

const filled = (words, values) => words.replace(/%(\w+)/g, (_, name) => values[name]);
const side = (ply) => (ply % 2 ? "white" : "black");

function show() {
  const laid = isCoarse ? picked.slice(0, -1) : picked;
  board.show({
    moves: [...state.moves, ...laid],
    winning: state.winning,
    forbidden: picked.length ? [] : state.forbidden,
    hint,
    choice: picked[laid.length],
  });
  part("prompt").textContent = prompt();
  part("notice").textContent = state.notice;
  part("choices").hidden = !state.may_choose;
  part("typing").hidden = state.stones === 0;
  showPicked();
  part("ask-hint").hidden = state.is_over;
  part("ask-hint").querySelector("button").disabled = state.stones !== 1 || state.may_choose;
  part("undo").hidden = !state.undo;
  part("undo").querySelector("button").textContent = state.undo;
  part("resign").hidden = state.is_over;
  part("rematch").hidden = !state.is_over;
  showPlayers();
}

/** What is to be done now: of stones that are picked, what places them. */
function prompt() {
  const left = state.stones - picked.length;
  if (!picked.length) return state.prompt;
  if (state.stones === 1) return filled(table.dataset.again, { cell: board.name(picked[0]) });
  if (!left) return filled(table.dataset.ready, { stones: state.stones });
  const next = state.moves.length + picked.length;
  const order = [...Array(left).keys()].map((each) => table.dataset[side(next + each)]);
  return filled(table.dataset.more, { stones: left, order: order.join(", ").toLowerCase() });
}

function showPicked() {
  part("picked").hidden = picked.length === 0;
  part("confirm").hidden = picked.length !== state.stones;
  part("start-over").hidden = state.stones === 1;
  const words = state.stones === 1 ? table.dataset.place : table.dataset.send;
  const cell = picked.length ? board.name(picked[0]) : "";
  part("confirm").textContent = filled(words, { cell, stones: state.stones });
}

function showPlayers() {
  for (const who of ["own", "opponent"]) {
    const line = table.querySelector(`[data-player=${who}]`);
    const isBlack = (who === "own") === (state.color === "black");
    const color = isBlack ? "black" : "white";
    line.querySelector(".stone-of").className = `stone-of ${color}`;
    line.querySelector(".hidden-text").textContent = `${table.dataset[color]} `;
    line.classList.toggle("running", !state.is_over && (who === "own") === state.is_turn);
  }
  showClocks();
}

function clockText(left) {
  const seconds = Math.ceil(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function showClocks() {
  const spent = state.is_over ? 0 : performance.now() - toldAt;
  for (const [who, left, isRunning] of [
    ["own", state.own_ms, state.is_turn],
    ["opponent", state.opponent_ms, !state.is_turn],
  ]) {
    if (left === null) continue;
    const clock = table.querySelector(`[data-player=${who}] [data-clock]`);
    clock.textContent = clockText(Math.max(0, left - (isRunning ? spent : 0)));
  }
}

function take(newer) {
  if (newer.version !== state.version) {
    picked = [];
    hint = undefined;
    part("hint-words").textContent = "";
  }
  state = newer;
  toldAt = performance.now();
  show();
}

/** Shows what an answer told, unless the stream has told what came after it already. */
function takeAnswer(told) {
  if (told && told.version >= state.version) take(told);
}

/** Sends a form; what the server answers is shown, and other pages are gone to. */
async function send(path, fields = {}) {
  const answer = await fetch(`${action}/${path}`, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams(fields),
  });
  if (answer.redirected) {
    location.assign(answer.url);
    return null;
  }
  const told = await answer.json();
  if (!answer.ok) {
    picked = [];
    show();
    part("notice").textContent = told.message;
    return null;
  }
  return told;
}

async function place() {
  takeAnswer(await send("move", { cells: picked.map((cell) => board.name(cell)).join(" ") }));
}

function pick(cell) {
  if (!state.is_turn || state.stones === 0) return;
  if (state.moves.includes(cell) || state.forbidden.includes(cell)) return;
  if (picked.at(-1) === cell && picked.length === state.stones) {
    place();
    return;
  }
  if (picked.includes(cell)) return;
  if (picked.length === state.stones) picked.pop();
  picked.push(cell);
  const isWhole = picked.length === state.stones;
  if (isWhole && state.stones === 1 && !isCoarse) place();
  else show();
}

function follow() {
  source?.close();
  source = null;
  if (document.hidden) return;
  source = new EventSource(`${action}/events`);
  source.onmessage = (event) => take(JSON.parse(event.data));
}

function onSubmit(name, path, then) {
  part(name).addEventListener("submit", async (event) => {
    event.preventDefault();
    const told = await send(path);
    if (told) then(told);
  });
}

board.onCell(pick);
part("typing").open = false;
part("confirm").addEventListener("click", place);
part("start-over").addEventListener("click", () => {
  picked = [];
  show();
});
for (const form of part("choices").querySelectorAll("form")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    takeAnswer(await send("choose", { color: form.elements.color.value }));
  });
}
part("move").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = part("move").elements.cells;
  const told = await send("move", { cells: field.value });
  if (told) {
    field.value = "";
    takeAnswer(told);
  }
});
onSubmit("resign", "resign", takeAnswer);
onSubmit("undo", "undo", () => {});
onSubmit("ask-hint", "hint", (told) => {
  hint = told.cell;
  part("hint-words").textContent = told.message;
  show();
});
document.addEventListener("visibilitychange", follow);
setInterval(showClocks, 250);
show();
follow();
