"""Our SGF, read by a library that is not ours."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf
from tests.game.made_records import records

from meijin.game import GOMOKU, GameRecord, from_sgf, to_sgf

SOME = 30


def moves_of(game: sgf.Sgf_game) -> list[int]:
    """The cells of its main line, as ours count them: from the top."""
    size = game.get_size()
    found = [node.get_move() for node in game.get_main_sequence()[1:]]
    assert [colour for colour, _ in found] == ["bw"[ply % 2] for ply in range(len(found))]
    return [(size - 1 - row) * size + column for _, (row, column) in found]


@settings(max_examples=SOME)
@given(records().filter(lambda record: record.variant.width == record.variant.height))
def test_sgfmill_reads_what_we_write(record: GameRecord) -> None:
    """The size, the moves, and the names as far as simple text has them."""
    game = sgf.Sgf_game.from_bytes(to_sgf(record).encode())
    assert game.get_size() == record.variant.width
    assert moves_of(game) == list(record.moves)
    if record.black.isprintable() and record.black.strip() == record.black != "":
        assert game.get_root().get("PB") == record.black


@settings(max_examples=SOME)
@given(st.permutations(range(225)), st.integers(0, 8))
def test_we_read_what_sgfmill_writes(cells: list[int], plies: int) -> None:
    """With its own way to break lines and to escape."""
    game = sgf.Sgf_game(size=15)
    game.get_root().set("PB", "a]b\\c:d")
    for ply, cell in enumerate(cells[:plies]):
        game.extend_main_sequence().set_move("bw"[ply % 2], (14 - cell // 15, cell % 15))
    text = game.serialise().decode().replace("GM[1]", "GM[4]")
    record = from_sgf(text)
    assert (record.variant, record.black) == (GOMOKU, "a]b\\c:d")
    assert list(record.moves) == cells[:plies]
