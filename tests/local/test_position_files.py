"""Files of positions, in every form."""

import io

import pytest

from meijin.game import GOMOKU, GameRecord, Variant, to_sgf
from meijin.game.records.json import to_json
from meijin.game.records.record import format_position, parse_position
from meijin.local.position_files import FilePosition, read_positions

MOVES = parse_position("h8i9g7", GOMOKU)
GAME = GameRecord(GOMOKU, "ada", "bob", MOVES, opening_plies=1)


def read(text: str, name: str = "-", variant: Variant = GOMOKU) -> list[tuple[str, str, str]]:
    return [shown(each) for each in read_positions(io.BytesIO(text.encode()), name, variant)]


def shown(found: FilePosition) -> tuple[str, str, str]:
    board = found.board
    return (
        found.place,
        "" if board is None else format_position(board.moves, board.variant),
        found.error,
    )


def test_lines_are_positions() -> None:
    assert read("\n# two\nh8 i9\r\n\nh8i9G7") == [("line 3", "h8i9", ""), ("line 5", "h8i9g7", "")]
    assert read("", "empty.pos") == []


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("h8h8", "h8 is occupied"),
        ("h8x", 'no move of the 15x15 board at "x"'),
        ("a1a2b1b2c1c2d1d2e1", "the game is over"),
        ('{"position": 3}', 'a line needs a field "position"'),
        ('{"position": "h8", "id": 0.5}', '"id" is neither'),
        ('{"position": "h8", "variant": "big"}', '"big" is no variant'),
        ('{"position"', "no JSON"),
        ('{"format": "meijin-game", "version": 9}', "it is no game in the format"),
    ],
)
def test_a_line_that_is_no_position_is_told_of(line: str, error: str) -> None:
    (place, _, told), after = read(f"{line}\nh8\n", "lines.txt")
    assert place == "line 1"
    assert error in told
    assert after == ("line 2", "h8", "")


def test_objects_have_variants_and_labels() -> None:
    text = '{"position": "a1", "variant": "standard 9x9", "id": "x"}\n{"position": "b1", "id": 7}\n'
    first, second = read_positions(io.BytesIO(text.encode()), "-", Variant.parse("7x7"))
    assert first.board is not None
    assert second.board is not None
    assert (first.board.variant, first.label) == (Variant.parse("standard 9x9"), "x")
    assert (second.board.variant, second.label) == (Variant.parse("7x7"), 7)


def test_games_have_a_position_a_move() -> None:
    wanted = ["h8", "h8i9"]
    assert [each for _, each, _ in read(to_sgf(GAME) * 2)] == wanted * 2
    assert read(to_json(GAME)) == [(f"line 1, ply {ply}", wanted[ply - 1], "") for ply in (1, 2)]
    assert read("(;GM[4]FF[4]SZ[15];B[hh];W[hh])", "x.sgf")[0][2].startswith("h8 is occupied")


def test_a_line_is_read_when_it_is_there() -> None:
    class Lines(io.RawIOBase):
        asked = 0

        def readable(self) -> bool:
            return True

        def readline(self, _size: int | None = -1, /) -> bytes:
            self.asked += 1
            return b"h8\n"

    lines = Lines()
    next(read_positions(lines, "-", GOMOKU))  # type: ignore[arg-type]  # a raw file, to count
    assert lines.asked == 1
