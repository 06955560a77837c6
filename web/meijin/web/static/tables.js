/**
 * Tables that are sorted by a click on a column's heading.
 *
 *     <table data-sortable>
 *     <thead><tr><th scope="col" data-sort="text">Bot</th>
 *     <th scope="col" data-sort="number" aria-sort="descending">Elo</th></tr></thead>
 *
 * A heading with `data-sort` gets a button in it; a cell is compared by its `data-value` where it has
 * one, else by its text. Numbers come largest first, texts in their order; what has no number comes
 * last either way. Rows in `tfoot` stay. Tables that htmx brings are sortable as well.
 */

const READY = "sortableReady";
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function value(row, column) {
  const cell = row.cells[column];
  return cell?.dataset.value ?? cell?.textContent.trim() ?? "";
}

function number(text) {
  const found = text.replaceAll(",", "").replace("−", "-").match(/[-+]?\d*\.?\d+(e[-+]?\d+)?/i);
  return found ? Number(found[0]) : NaN;
}

/** Compares numbers so that what is none comes last, whatever the direction. */
function compareNumbers(one, other, sign) {
  if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other);
  return sign * (one - other);
}

function sortRows(body, column, kind, sign) {
  const key = kind === "number" ? (row) => number(value(row, column)) : (row) => value(row, column);
  const keyed = [...body.rows].map((row) => [key(row), row]);
  const compare =
    kind === "number"
      ? (one, other) => compareNumbers(one[0], other[0], sign)
      : (one, other) => sign * collator.compare(one[0], other[0]);
  body.append(...keyed.sort(compare).map(([, row]) => row));
}

function sort(table, heading) {
  const kind = heading.dataset.sort;
  const first = kind === "number" ? "descending" : "ascending";
  const second = kind === "number" ? "ascending" : "descending";
  const order = heading.getAttribute("aria-sort") === first ? second : first;
  for (const other of table.tHead.querySelectorAll("th[aria-sort]")) {
    other.removeAttribute("aria-sort");
  }
  heading.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  for (const body of table.tBodies) sortRows(body, heading.cellIndex, kind, sign);
}

function addButton(table, heading) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sort(table, heading));
  heading.append(button);
}

function makeSortable() {
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    if (READY in table.dataset || !table.tHead) continue;
    table.dataset[READY] = "";
    for (const heading of table.tHead.querySelectorAll("th[data-sort]")) addButton(table, heading);
  }
}

makeSortable();
document.addEventListener("htmx:after:swap", makeSortable);
