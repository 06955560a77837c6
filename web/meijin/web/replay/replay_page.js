"use strict";
const { game, width, height, clocks, end } = JSON.parse(document.getElementById("data").textContent);
const SIDES = ["black", "white"];
const find = (id) => document.getElementById(id);
const board = find("board");
let ply = 0;

function draw(parent, kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function place(cell) {
  return { x: cell.charCodeAt(0) - 97, y: height - Number(cell.slice(1)) };
}

function drawGrid() {
  board.setAttribute("viewBox", `-1.2 -1 ${width + 1.4} ${height + 1.2}`);
  for (let x = 0; x < width; x++) {
    draw(board, "line", { class: "line", x1: x, y1: 0, x2: x, y2: height - 1 });
    draw(board, "text", { class: "name", x, y: height - 0.1 }, String.fromCharCode(97 + x));
  }
  for (let y = 0; y < height; y++) {
    draw(board, "line", { class: "line", x1: 0, y1: y, x2: width - 1, y2: y });
    draw(board, "text", { class: "name", x: -0.8, y: y + 0.15 }, height - y);
  }
  return draw(board, "g", { id: "stones" });
}

function drawStones() {
  stones.replaceChildren();
  game.moves.slice(0, ply).forEach((move, index) => {
    const { x, y } = place(move.cell);
    draw(stones, "circle", { class: SIDES[index % 2], cx: x, cy: y, r: 0.44 });
    draw(stones, "text", { class: "number", x, y: y + 0.14 }, index + 1);
  });
  if (ply === 0) return;
  const move = game.moves[ply - 1];
  const last = place(move.cell);
  draw(stones, "circle", { class: "mark", cx: last.x, cy: last.y, r: 0.46 });
  for (const cell of (move.analysis ? move.analysis.pv : []).slice(1, 8)) {
    const { x, y } = place(cell);
    draw(stones, "circle", { class: "pv", cx: x, cy: y, r: 0.3 });
  }
}

function seconds(number) {
  return `${number.toFixed(3)} s`;
}

function drawSides() {
  SIDES.forEach((side, index) => {
    const row = find(side);
    const { name, version } = game[side];
    row.cells[1].textContent = version ? `${name} ${version}` : name;
    row.cells[2].textContent = clocks ? seconds(clocks[ply][index] / 1e6) : "";
    row.classList.toggle("to-move", ply < game.moves.length && ply % 2 === index);
  });
}

function describe(move) {
  if (ply === 0) return "The empty board.";
  const time = ply > game.opening_plies && move.charged_time_seconds !== undefined ? `, ${seconds(move.charged_time_seconds)}` : "";
  const from = ply <= game.opening_plies ? " (opening)" : "";
  return `${ply}. ${SIDES[(ply - 1) % 2]} ${move.cell}${from}${time}`;
}

function drawWords() {
  const move = game.moves[ply - 1];
  find("move").textContent = describe(move);
  const said = move && move.analysis;
  find("analysis").textContent = said
    ? `score ${said.score ?? "–"}, depth ${said.depth ?? "–"}, ${said.nodes ?? "–"} nodes` +
      (said.pv.length ? `, expects ${said.pv.join(" ")}` : "")
    : "";
  find("end").textContent = ply === game.moves.length ? end : "";
  for (const [index, line] of [...find("moves").children].entries()) {
    line.classList.toggle("now", index === ply - 1);
  }
}

function show(wanted) {
  ply = Math.max(0, Math.min(game.moves.length, wanted));
  find("ply").value = ply;
  drawStones();
  drawSides();
  drawWords();
}

function listMoves() {
  game.moves.forEach((move, index) => {
    const line = document.createElement("li");
    line.textContent = move.cell;
    line.classList.toggle("opening", index < game.opening_plies);
    line.addEventListener("click", () => show(index + 1));
    find("moves").append(line);
  });
}

const stones = drawGrid();
const STEPS = { ArrowLeft: () => ply - 1, ArrowRight: () => ply + 1, Home: () => 0, End: () => Infinity };
const BUTTONS = { first: "Home", back: "ArrowLeft", forward: "ArrowRight", last: "End" };
for (const [id, key] of Object.entries(BUTTONS)) {
  find(id).addEventListener("click", () => show(STEPS[key]()));
}
document.addEventListener("keydown", (event) => {
  if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  show(STEPS[event.key]());
});
find("ply").max = game.moves.length;
find("ply").addEventListener("input", (event) => show(Number(event.target.value)));
find("players").textContent = `${game.black.name} - ${game.white.name}`;
const facts = [game.variant, game.time_control, game.event, game.game_id && `game ${game.game_id}`, game.start_time];
find("facts").textContent = facts.filter(Boolean).join(" · ");
listMoves();
const wanted = location.hash.slice(1);
show(/^\d+$/.test(wanted) ? Number(wanted) : game.moves.length);
