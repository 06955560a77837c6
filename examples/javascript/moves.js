// What the bot plays: the cell on which the most lines of five are still to be made or stopped.
const STEPS = [[1, 0], [0, 1], [1, 1], [1, -1]];
const BLACK = 1;
const OWN = [0, 1, 10, 100, 1_000, 100_000]; // by the stones that a line has, the new one included
const THEIRS = [0, 0.5, 5, 50, 500, 20_000];

// The stones of a board, 0 where there is none: two bytes a move, little-endian, black's first.
export function stonesOf({ width, height }, moves) {
  const stones = new Uint8Array(width * height);
  for (let ply = 0; 2 * ply < moves.length; ply++) {
    stones[moves.readUInt16LE(2 * ply)] = ply % 2 ? 3 - BLACK : BLACK;
  }
  return stones;
}

// The cells of every line of five on the board.
function* linesOf({ width, height, line }) {
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (const [dx, dy] of STEPS) {
        const [endX, endY] = [x + dx * (line - 1), y + dy * (line - 1)];
        if (endX >= width || endY < 0 || endY >= height) continue;
        yield Array.from({ length: line }, (_, n) => (y + n * dy) * width + x + n * dx);
      }
    }
  }
}

// What a stone on each cell is worth to a side; only lines without the other's stones count.
function valuesOf(variant, stones, side) {
  const values = new Float64Array(stones.length);
  for (const cells of linesOf(variant)) {
    const mine = cells.filter((cell) => stones[cell] === side).length;
    const theirs = cells.filter((cell) => stones[cell] === 3 - side).length;
    const isFull = mine + theirs === cells.length; // caro has fives that don't win
    if ((mine && theirs) || isFull) continue;
    const value = mine ? OWN[mine + 1] : THEIRS[theirs + 1];
    for (const cell of cells) if (!stones[cell]) values[cell] += value;
  }
  return values;
}

// Whether renju may forbid black a cell. It is never wrong about one that is forbidden: a double
// three or four in two directions has three stones of a free line of five in each; one in a single
// direction, or an overline, has five stones near each other in a row. Exactly five always wins.
export function mayBeForbidden({ width, height }, stones, cell) {
  const [x, y] = [cell % width, Math.floor(cell / width)];
  const at = (dx, dy, n) => {
    const [column, row] = [x + n * dx, y + n * dy];
    const isOn = column >= 0 && column < width && row >= 0 && row < height;
    return isOn ? stones[row * width + column] : 3 - BLACK;
  };
  let threes = 0;
  let isLong = false;
  for (const [dx, dy] of STEPS) {
    const row = Array.from({ length: 11 }, (_, n) => (n === 5 ? BLACK : at(dx, dy, n - 5)));
    const own = row.map((stone) => (stone === BLACK ? "x" : stone ? "o" : "."));
    const reachable = own.join("").slice(own.lastIndexOf("o", 5) + 1).split("o")[0];
    const [before, after] = [own.slice(0, 5).join(""), own.slice(6).join("")];
    const run = before.match(/x*$/)[0].length + 1 + after.match(/^x*/)[0].length;
    if (run === 5) return false;
    isLong ||= countOf(reachable) >= 5;
    for (let n = 0; n + 5 <= reachable.length; n++) {
      if (countOf(reachable.slice(n, n + 5)) >= 3) {
        threes++;
        break;
      }
    }
  }
  return isLong || threes >= 2;
}

const countOf = (text) => text.split("x").length - 1;

// The cell to play, or null where every one may be forbidden.
export function chooseCell(variant, moves, color) {
  const stones = stonesOf(variant, moves);
  const side = color === "COLOR_BLACK" ? BLACK : 3 - BLACK;
  const values = valuesOf(variant, stones, side);
  const cells = [...stones.keys()].filter((cell) => !stones[cell]);
  cells.sort((one, other) => values[other] - values[one]);
  const isFree = variant.rule !== "RULE_RENJU" || side !== BLACK;
  return cells.find((cell) => isFree || !mayBeForbidden(variant, stones, cell)) ?? null;
}

// The side for which the stones on the board have done more; white is to move.
export function chooseColor(variant, moves) {
  const stones = stonesOf(variant, moves);
  const bestOf = (side) => Math.max(...valuesOf(variant, stones, side));
  const [black, white] = [bestOf(BLACK), bestOf(3 - BLACK)];
  return black > 2 * white ? "COLOR_BLACK" : "COLOR_WHITE";
}

// The first stones of an opening: two in the middle, and one some way off.
export function placeStones({ width, height }, count) {
  const middle = Math.floor(height / 2) * width + Math.floor(width / 2);
  return [middle, middle + 1, middle - 2 * width].slice(0, count);
}
