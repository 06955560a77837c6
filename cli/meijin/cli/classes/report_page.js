"use strict";
const { games } = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const SIDES = ["black", "white"];
let game = null;
let number = "";

function draw(kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  find("board").append(made);
}

function drawGrid() {
  const { width, height } = game;
  find("board").setAttribute("viewBox", `-0.7 -0.7 ${width + 0.4} ${height + 0.4}`);
  for (let x = 0; x < width; x++) draw("line", { class: "line", x1: x, y1: 0, x2: x, y2: height - 1 });
  for (let y = 0; y < height; y++) draw("line", { class: "line", x1: 0, y1: y, x2: width - 1, y2: y });
}

function show(ply) {
  ply = Math.max(0, Math.min(game.cells.length, ply));
  find("ply").value = ply;
  find("board").replaceChildren();
  drawGrid();
  game.cells.slice(0, ply).forEach(([x, row], index) => {
    const y = game.height - 1 - row;
    const side = SIDES[index % 2];
    draw("circle", { class: side, cx: x, cy: y, r: 0.44 });
    draw("text", { class: `number on-${side}`, x, y: y + 0.14 }, index + 1);
    if (index === ply - 1) draw("circle", { class: "mark", cx: x, cy: y, r: 0.46 });
  });
  find("caption").textContent = `Game ${number}: ${game.names[0]} (black) - ${game.names[1]}, ${ply} of ${game.cells.length} stones`;
}

function open(wanted) {
  if (!Object.hasOwn(games, wanted)) return;
  number = wanted;
  game = games[wanted];
  find("viewer").hidden = false;
  find("ply").max = game.cells.length;
  show(game.cells.length);
}

find("games").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-game]");
  if (row && event.target.tagName === "BUTTON") open(row.dataset.game);
});
find("ply").addEventListener("input", (event) => show(Number(event.target.value)));
find("back").addEventListener("click", () => show(Number(find("ply").value) - 1));
find("forward").addEventListener("click", () => show(Number(find("ply").value) + 1));
open(location.hash.slice(1));
