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

function show() {
  board.show({
    moves: [...state.moves, ...picked],
    winning: state.winning,
    forbidden: picked.length ? [] : state.forbidden,
    hint,
    choice: isCoarse && picked.length ? picked.at(-1) : undefined,
  });
  part("prompt").textContent = state.prompt;
  part("notice").textContent = state.notice;
  part("color").textContent = part("color").dataset[state.color];
  part("choices").hidden = !state.may_choose;
  part("move").hidden = state.stones === 0;
  part("picked").hidden = picked.length === 0;
  part("confirm").hidden = picked.length !== state.stones;
  part("ask-hint").hidden = state.is_over;
  part("undo").hidden = !state.may_undo;
  part("resign").hidden = state.is_over;
  part("rematch").hidden = !state.is_over;
  showClocks();
}

function clockText(left) {
  const seconds = Math.ceil(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function showClocks() {
  const spent = state.is_over ? 0 : performance.now() - toldAt;
  const clocks = [
    ["own-clock", state.own_ms, state.is_turn],
    ["opponent-clock", state.opponent_ms, !state.is_turn],
  ];
  for (const [name, left, isRunning] of clocks) {
    if (left === null) continue;
    part(name).textContent = clockText(Math.max(0, left - (isRunning ? spent : 0)));
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
