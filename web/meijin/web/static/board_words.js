/** Boards in words: names of cells, positions and moves. */

const SIDES = ["black", "white"];

/** The printed name of a cell: the column's letter from the left, the row from the bottom. */
export function cellName(cell, width, height) {
  return `${String.fromCharCode(97 + (cell % width))}${height - Math.floor(cell / width)}`;
}

/** The cell with a printed name. */
export function parseCell(name, width, height) {
  return (height - Number(name.slice(1))) * width + name.charCodeAt(0) - 97;
}

/** A move by its ply, from 1: `1. black h8`. */
export function plyText(ply, name) {
  return `${ply}. ${SIDES[(ply - 1) % 2]} ${name}`;
}

/** What a board shows in a line, such as `15x15 board, 9 moves, the last one black h8`. */
export function positionText({ moves, ply, winning, forbidden }, width, height) {
  const name = (cell) => cellName(cell, width, height);
  const parts = [`${width}x${height} board`, ply === 1 ? "1 move" : `${ply} moves`];
  if (ply > 0) parts.push(`the last one ${SIDES[(ply - 1) % 2]} ${name(moves[ply - 1])}`);
  if (winning.length) parts.push(`winning line ${[...new Set(winning.flat())].map(name).join(" ")}`);
  if (forbidden.length) parts.push(`forbidden ${forbidden.map(name).join(" ")}`);
  return parts.join(", ");
}

/** Moves as a text: `1 black h8, 2 white i9`. */
export function movesText(cells, width, height) {
  const move = (cell, index) => `${index + 1} ${SIDES[index % 2]} ${cellName(cell, width, height)}`;
  return cells.length ? cells.map(move).join(", ") : "no moves";
}

/** What is on a cell. */
export function cellText(board, cell) {
  const { moves, ply, forbidden } = board.shown;
  const index = moves.slice(0, ply).indexOf(cell);
  if (index >= 0) return `${board.name(cell)}, ${SIDES[index % 2]}, move ${index + 1}`;
  return `${board.name(cell)}, ${forbidden.includes(cell) ? "forbidden" : "empty"}`;
}
