const { game, width, height, clocks, winning, result, end } = JSON.parse(document.getElementById("data").textContent);
const SIDES = ["black", "white"];
const find = (id) => document.getElementById(id);
const board = new Board(find("board"), { width, height });
const cells = game.moves.map((move) => parseCell(move.cell, width, height));
const last = cells.length;
let ply = 0;

function drawBoard() {
  const said = game.moves[ply - 1]?.analysis;
  const pv = (said?.pv ?? []).slice(1, 8).map((name) => parseCell(name, width, height));
  const isOver = ply === last;
  board.show({ moves: cells, ply, numbers: true, winning: isOver ? winning : [], pv: isOver ? [] : pv });
}

function drawClocks() {
  SIDES.forEach((side, index) => {
    find(side).lastElementChild.textContent = clocks ? `${(clocks[ply][index] / 1e6).toFixed(3)} s` : "";
    find(side).classList.toggle("running", ply < last && ply % 2 === index);
  });
}

function describe(move) {
  if (!move) return "The empty board.";
  const isOpening = ply <= game.opening_plies;
  const time = isOpening || move.charged_time_seconds === undefined ? "" : `, ${move.charged_time_seconds.toFixed(3)} s`;
  return `${plyText(ply, move.cell)}${isOpening ? " (opening)" : ""}${time}`;
}

function drawWords() {
  const move = game.moves[ply - 1];
  const said = move?.analysis;
  find("move").textContent = describe(move);
  find("count").textContent = `Ply ${ply} of ${last}`;
  find("analysis").textContent = said
    ? `score ${said.score ?? "–"}, depth ${said.depth ?? "–"}, ${said.nodes ?? "–"} nodes` +
      (said.pv.length ? `, expects ${said.pv.join(" ")}` : "")
    : "";
  find("end").textContent = ply === last ? end : "";
  find("moves").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const row = find("moves").rows[ply - 1];
  row?.setAttribute("aria-current", "true");
  const frame = document.querySelector(".moves-frame");
  frame.scrollTop = row ? row.offsetTop - frame.clientHeight / 2 : 0;
}

function show(wanted) {
  ply = Math.max(0, Math.min(last, wanted));
  find("ply").value = ply;
  drawBoard();
  drawClocks();
  drawWords();
}

function listMoves() {
  game.moves.forEach((move, index) => {
    const row = find("moves").insertRow();
    const told = [index + 1, "", move.charged_time_seconds?.toFixed(3) ?? "", move.analysis?.score ?? ""];
    for (const text of told) {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.className = "number";
    }
    const stone = document.createElement("span");
    stone.className = `stone-of ${SIDES[index % 2]}`;
    row.cells[1].className = "";
    row.cells[1].append(stone, ` ${move.cell}${index < game.opening_plies ? " (opening)" : ""}`);
    row.addEventListener("click", () => show(index + 1));
  });
}

function tellPlayers() {
  const names = document.querySelectorAll("h1 .name");
  SIDES.forEach((side, index) => {
    const [, name, version] = find(side).children;
    names[index].textContent = name.textContent = name.title = game[side].name;
    version.textContent = game[side].version;
  });
  find("result").textContent = result;
  const facts = [game.event, game.variant, game.time_control, game.game_id && `game ${game.game_id}`, game.start_time];
  find("facts").textContent = facts.filter(Boolean).join(" · ");
}

const STEPS = { ArrowLeft: () => ply - 1, ArrowRight: () => ply + 1, Home: () => 0, End: () => last };
const BUTTONS = { first: "Home", back: "ArrowLeft", forward: "ArrowRight", last: "End" };
for (const [id, key] of Object.entries(BUTTONS)) {
  find(id).addEventListener("click", () => show(STEPS[key]()));
}
document.addEventListener("keydown", (event) => {
  if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  show(STEPS[event.key]());
});
find("ply").max = last;
find("ply").addEventListener("input", (event) => show(Number(event.target.value)));
tellPlayers();
listMoves();
const wanted = location.hash.slice(1);
show(/^\d+$/.test(wanted) ? Number(wanted) : last);
