"""Texts that are nearly records, openings, variants and time controls: read, or refused in words."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from tests.fuzz.mutation import mutated, mutated_text

from meijin.game import (
    Board,
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
    format_opening,
    from_sgf,
    parse_opening,
    to_sgf,
)
from meijin.game.openings.file import read_openings
from meijin.game.records.file import FileFormat, read_games, write_game
from meijin.game.records.json import from_json
from meijin.game.rules.named import RULES

SEED = int(os.environ.get("MEIJIN_FUZZ_SEED", "1"))
ROUNDS = int(os.environ.get("MEIJIN_FUZZ_ROUNDS", "10000"))
NAMES = ("", "ada", "a]b\\c:d", "é\n[;]", "\0\x1b[2J")
FOREIGN = """(;FF[4]GM[4]SZ[19:15]PB[x]PW[y]DT[2024-02-30,31]RE[B+Resign]TM[600]OT[5x30 byo-yomi]
RU[renju];B[jj]C[0.5 s](;W[kk];B[jk])(;W[aa]))"""


def played(rng: random.Random) -> GameRecord:
    """A record of a random game, with everything that a record may have."""
    size = rng.choice((3, 5, 9, 15, 19))
    rule = rng.choice([rule for rule in RULES.values() if size >= 5 or not rule.needs_five])
    variant = Variant(rule=rule, width=size, height=size, line=min(size, 5))
    board = Board(variant)
    for cell in rng.sample(range(variant.cells), min(variant.cells, rng.randrange(30))):
        if board.winner is not None:
            break
        try:
            board.play(cell)
        except ValueError:
            continue
    moves = tuple(board.moves)
    opening = rng.randint(0, len(moves))
    outcome = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, rng.choice(NAMES))
    return GameRecord(
        variant=variant,
        black=rng.choice(NAMES),
        white=rng.choice(NAMES),
        moves=moves,
        times=tuple(timedelta(milliseconds=rng.randrange(10**5)) for _ in moves),
        opening_plies=opening,
        time_control=TimeControl.parse(rng.choice(("60", "5+0.1", "1/move", "600+2,10/move"))),
        outcome=rng.choice((None, outcome)),
        start_time=rng.choice((None, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))),
    )


def refused_in_words(parse: Callable[[str], object], text: str) -> bool:
    """Whether a text is refused; anything but a `ValueError` that says why is a defect."""
    try:
        parse(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - either is right
        return True
    except Exception as error:
        raise AssertionError(f"seed {SEED}: {text!r}") from error
    return False


def test_records_are_read_or_refused() -> None:
    """A mutated record is read, and written again the same; or it is refused."""
    rng = random.Random(SEED)
    refused = 0
    for _ in range(ROUNDS):
        text = mutated_text(rng.choice((to_sgf(played(rng)), FOREIGN)), rng)
        if refused_in_words(from_sgf, text):
            refused += 1
            continue
        record = from_sgf(text)
        again = from_sgf(to_sgf(record))
        assert (again.moves, again.variant) == (record.moves, record.variant), text
    assert 0 < refused < ROUNDS


def test_a_record_is_read_as_it_was_written() -> None:
    """Whatever is in its names and details."""
    rng = random.Random(SEED)
    for _ in range(ROUNDS // 10):
        record = played(rng)
        assert from_sgf(to_sgf(record)) == record


RIF = """<database><players><player id="1" name="A" surname="B"/></players><games>
<game id="7" black="1" white="1" bresult="1"><move>h8 i9 j10</move></game></games></database>"""


@pytest.mark.parametrize("form", list(FileFormat))
def test_files_are_read_or_refused(form: FileFormat) -> None:
    """Of every format: games that can be written again, and errors in words."""
    rng = random.Random(SEED)
    read = refused = 0
    for _ in range(ROUNDS // 10):
        record = replace(played(rng), variant=Variant(), moves=(112, 98), times=(), opening_plies=0)
        text = mutated_text(RIF if form is FileFormat.RIF else write_game(record, form), rng)
        try:
            games = list(read_games([text.encode("utf-8", "replace")], form))
        except ValueError as error:
            assert str(error)  # noqa: PT017 - either is right
            refused += 1
            continue
        for game in games:
            assert (game.record is None) is bool(game.error)
            refused += game.record is None
            if game.record is not None:
                read += 1
                again = from_json(write_game(game.record, FileFormat.JSON))
                assert again == game.record, text
    assert read
    assert refused


def test_books_are_read_or_refused() -> None:
    """Openings that are playable, or an error in words."""
    rng = random.Random(SEED)
    books = ("h8 i9\nh8 g7\n", "h8i9\nh8g7\n", "0,0, 1,-1\n-1,0, 2,2\n", FOREIGN, RIF)
    read = 0
    for _ in range(ROUNDS // 10):
        data = mutated(rng.choice(books).encode(), rng)
        if refused_in_words(partial(read_book, data), ""):
            continue
        read += 1
        assert all(len(opening) <= 16 for opening in read_openings(data, Variant()))
    assert read


def read_book(data: bytes, _: str) -> object:
    """The openings of a file for 15x15."""
    return read_openings(data, Variant())


@pytest.mark.parametrize(
    ("parse", "good"),
    [
        (Variant.parse, ("15x15", "standard 15x15", "freestyle 3x3 line 3", "19x19")),
        (TimeControl.parse, ("60", "5+0.1", "0.5+0.01", "1/move", "600+2,10/move", "5,1/move")),
    ],
)
def test_values_are_read_or_refused(parse: Callable[[str], object], good: Sequence[str]) -> None:
    """What is read is printed as something that is read the same."""
    rng = random.Random(SEED)
    read = 0
    for _ in range(ROUNDS):
        text = mutated_text(rng.choice(good), rng)
        if not refused_in_words(parse, text):
            read += 1
            assert parse(str(parse(text))) == parse(text), text
    assert read


def test_openings_are_read_or_refused() -> None:
    """As text, whose cells are on the board and whose printing is read the same."""
    rng = random.Random(SEED)
    read = 0
    for _ in range(ROUNDS):
        variant = rng.choice((Variant(), Variant(width=5, height=5), Variant(width=22, height=22)))
        text = mutated_text(rng.choice(("h8", "h8 i9 j10", "a1 b2", "v22 a1")), rng)
        if not refused_in_words(partial(parse_opening, variant=variant), text):
            read += 1
            opening = parse_opening(text, variant)
            assert all(cell < variant.cells for cell in opening)
            assert parse_opening(format_opening(opening, variant), variant) == opening
    assert 0 < read < ROUNDS


def test_moves_are_read_or_refused() -> None:
    """Of bytes, as a bot sends what it expects."""
    rng = random.Random(SEED)
    for _ in range(ROUNDS):
        data = mutated(encode_moves(rng.choices(range(484), k=rng.randrange(9))), rng)
        try:
            assert encode_moves(decode_moves(data)) == data
        except ValueError:
            assert len(data) % 2
