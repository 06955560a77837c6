"""What the bots without the SDK play."""

import json
import runpy
import subprocess
from pathlib import Path

from tests.examples.conftest import EXAMPLES, NODE

from meijin.game import CARO, Board, Variant, encode_moves
from meijin.v1 import game_pb2
from meijin.wire.values import variant_to_proto

GOLDEN = Path(__file__).parents[1] / "data" / "renju_forbidden_points.tsv"
FIND_FORBIDDEN = """
import { readFileSync } from "node:fs";
const { mayBeForbidden } = await import(process.argv[1]);
for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
  const stones = Array.from(line.slice(0, 225), (symbol) => ".ox".indexOf(symbol));
  const empty = [...stones.keys()].filter((cell) => !stones[cell]);
  const found = empty.filter((cell) => mayBeForbidden({ width: 15, height: 15 }, stones, cell));
  console.log(JSON.stringify([found, empty.length]));
}
"""
CHOOSE = """
import { readFileSync } from "node:fs";
const { chooseCell } = await import(process.argv[1]);
const variant = { rule: "RULE_CARO", width: 7, height: 7, line: 5 };
console.log(chooseCell(variant, readFileSync(0), "COLOR_BLACK"));
"""
BLOCKED_FIVE = Board.from_moves([1, 0, 2, 6, 3, 21, 4, 31, 5, 41], Variant(CARO, 7, 7))
"""A five that white blocks at both ends, which does not win; a four or three stands nowhere."""


def run_javascript(program: str, told: bytes) -> str:
    """What a program prints that uses the bot's moves."""
    moves = EXAMPLES / "javascript" / "moves.js"
    command = [str(NODE), "--input-type=module", "-e", program, str(moves)]
    return subprocess.run(command, input=told, capture_output=True, check=True).stdout.decode()


def test_forbidden_cells_are_avoided() -> None:
    """Of 500 positions of renju it keeps black from every forbidden cell, and from few others."""
    lines = GOLDEN.read_text().splitlines()[::5]
    answers = run_javascript(FIND_FORBIDDEN, "\n".join(lines).encode()).splitlines()
    avoided = forbidden = empty = 0
    for line, answer in zip(lines, answers, strict=True):
        found, cells = json.loads(answer)
        points = [point.split(",") for point in line.partition("\t")[2].split(";") if point]
        expected = {15 * int(row) + int(column) for column, row in points}
        assert expected <= set(found), line
        avoided, forbidden, empty = avoided + len(found), forbidden + len(expected), empty + cells
    assert 0 < forbidden < avoided < empty / 10


def test_five_that_does_not_win() -> None:
    """Where caro lets a game go on after five stones in a row, both find another cell."""
    moves = encode_moves(BLOCKED_FIVE.moves)
    assert not BLOCKED_FIVE.is_over
    assert BLOCKED_FIVE.is_legal(int(run_javascript(CHOOSE, moves)))
    plain = runpy.run_path(str(EXAMPLES / "python-plain" / "plain_bot.py"))
    variant: game_pb2.Variant = variant_to_proto(BLOCKED_FIVE.variant)
    assert BLOCKED_FIVE.is_legal(plain["choose"](variant, moves))
