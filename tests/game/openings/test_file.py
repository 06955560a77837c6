"""Openings from files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import GOMOKU, Opening, Variant, format_opening, openings_for
from meijin.game.openings.file import MAX_FILE_OPENINGS, read_openings
from meijin.game.records.record import format_position

FIRST: Opening = (112, 98, 114)
SGF = b"(;GM[4]SZ[15];B[hh];W[ig];B[jh];W[ab])(;GM[4]SZ[15];B[hh];W[gg];B[fh];W[ac])"
RIF = b"""<database><games><game id="1"><move>h8 i9 j8 a1</move></game>
<game id="2"><move>h8 g7 f8 a1</move></game></games></database>"""


@pytest.mark.parametrize(
    "text",
    [
        b"h8 i9 j8",
        b"h8i9j8\r\n",
        b"7,7 8,6 9,7",
        b"0,0, 1,-1, 2,0",
        b"0,0,1,-1,2,0,\n",
        b"# a book\n\n H8I9J8  # balanced\n",
        b"\xef\xbb\xbfh8 i9 j8",
        b"(;GM[4]SZ[15];B[hh];W[ig];B[jh])",
        b"<database><games><game><move>h8i9j8</move></game></games></database>",
    ],
)
def test_forms(text: bytes) -> None:
    """The same opening in every form that there is."""
    assert read_openings(text, GOMOKU) == [FIRST]


def test_offsets_are_from_the_centre() -> None:
    """Of an even side, the cell right of the middle or below it; known by the whole file.

    A line of one pair would be a cell by itself.
    """
    assert read_openings(b"1,1\n-1,0, 2,-3\n", GOMOKU) == [(128,), (111, 69)]
    assert read_openings(b"1,1\n", GOMOKU) == [(16,)]
    assert read_openings(b"-1,0\n", GOMOKU) == [(111,)]
    assert read_openings(b"0,0, -10,9", Variant(width=20, height=20)) == [(210, 380)]


@pytest.mark.parametrize("data", [SGF, RIF])
def test_openings_of_games(data: bytes) -> None:
    """So many moves of each, and those that are mirror images once."""
    assert read_openings(data, GOMOKU, 3) == [FIRST]
    assert read_openings(data, GOMOKU, 1) == [(112,)]
    assert len(read_openings(data, GOMOKU)) == 2


@given(st.lists(st.sampled_from(openings_for(GOMOKU)), min_size=1))
def test_what_is_written_is_read(openings: list[Opening]) -> None:
    """In their order, as words and as position strings."""
    words = "\n".join(format_opening(opening, GOMOKU) for opening in openings)
    assert read_openings(words.encode(), GOMOKU) == openings
    strings = "\n".join(format_position(opening, GOMOKU) for opening in openings)
    assert read_openings(strings.encode(), GOMOKU) == openings
    offsets = "\n".join(
        ", ".join(f"{cell % 15 - 7},{cell // 15 - 7}" for cell in opening) for opening in openings
    )
    assert read_openings(offsets.encode(), GOMOKU) == openings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "there is no opening"),
        (b"# nothing\n", "there is no opening"),
        (b"\xff\xfe\x00", "it is no text"),
        (b"h8 i9\nh8 p8\n", "line 2: column 15"),
        (b"h8i9\nh8h8\n", "line 2: h8 is occupied"),
        (b"h8 i9\nnonsense\n", 'line 2: "nonsense" is no cell'),
        (b"0,0, 1,1\nh8 i9\n", 'line 2: "h8 i9" has no offsets'),
        (b"0,0, 1\n", "line 1: "),
        (b"0,0, 9,0\n", "line 1: column 16, row 7 is off"),
        (b"a1a2b1b2c1c2d1d2e1\n", "line 1: the opening a1 .* ends the game"),
        (b"h8i9" * 9, "line 1: "),
        (SGF.replace(b"ig", b"hh"), "game 1: h8 is occupied"),
        (SGF.replace(b"SZ[15]", b"SZ[19]"), "game 1: it is of 19x19, not 15x15"),
        (b"<database/>", "there is no <games>"),
        (b"h8\n" * (MAX_FILE_OPENINGS + 1), "there are more than 100000 openings"),
    ],
)
def test_refused(text: bytes, message: str) -> None:
    """The error names the line or the game."""
    with pytest.raises(ValueError, match=message):
        read_openings(text, GOMOKU)


def test_a_whole_game_is_no_opening() -> None:
    moves = "".join(
        f";{'BW'[ply % 2]}[{chr(97 + ply % 15)}{'ace'[ply // 15]}]" for ply in range(20)
    )
    data = f"(;GM[4]SZ[15]{moves})".encode()
    with pytest.raises(ValueError, match="20 moves are more than an opening's 16; say how many"):
        read_openings(data, GOMOKU)
    assert len(read_openings(data, GOMOKU, 4)[0]) == 4
