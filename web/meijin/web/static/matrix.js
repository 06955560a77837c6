/**
 * A matrix of links as one tab stop: the arrow keys, Home and End go from cell to cell.
 */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The next link from a cell in a direction; none at the edge. */
function next(body, cell, [down, right]) {
  let row = cell.parentElement.sectionRowIndex + down;
  let column = cell.cellIndex + right;
  while (body.rows[row]?.cells[column]) {
    const link = body.rows[row].cells[column].querySelector("td > a");
    if (link) return link;
    row += down;
    column += right;
  }
  return null;
}

function end(row, isLast) {
  const links = row.querySelectorAll("td > a");
  return links[isLast ? links.length - 1 : 0];
}

function target(body, event) {
  const cell = event.target.closest("td");
  if (event.key in STEPS) return next(body, cell, STEPS[event.key]);
  if (event.key === "Home" || event.key === "End") return end(cell.parentElement, event.key === "End");
  return null;
}

function enter(body, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !event.target.closest("td > a")) return;
  const link = target(body, event);
  if (!link) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  link.tabIndex = 0;
  link.focus();
}

for (const table of document.querySelectorAll("table[data-matrix]")) {
  const [body] = table.tBodies;
  for (const [place, link] of [...body.querySelectorAll("td > a")].entries()) {
    link.tabIndex = place ? -1 : 0;
  }
  body.addEventListener("keydown", (event) => enter(body, event));
}
