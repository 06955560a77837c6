"""Texts that are nearly records, openings, variants and time controls: read, or refused in words."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest
from tests.fuzz.mutation import mutated_text
from tests.game.made_records import random_moves

from meijin.game import (
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
    Variant,
    format_opening,
    from_sgf,
    parse_opening,
    to_sgf,
)
from meijin.game.openings.file import read_openings
from meijin.game.records.file import FileFormat, read_games, write_game
from meijin.game.records.json import from_json

SEED = int(os.environ.get("MEIJIN_FUZZ_SEED", "1"))
ROUNDS = int(os.environ.get("MEIJIN_FUZZ_ROUNDS", "10000"))
NAMES = ("", "ada", "a]b\\c:d", "é\n[;]", "\0\x1b[2J")
FOREIGN = """(;FF[4]GM[4]SZ[19:15]PB[x]PW[y]DT[2024-02-30,31]RE[B+Resign]TM[600]OT[5x30 byo-yomi]
RU[renju];B[jj]C[0.5 s](;W[kk];B[jk])(;W[aa]))"""
RIF = """<database><players><player id="1" name="A" surname="B"/></players><games>
<game id="7" black="1" white="1" bresult="1"><move>h8 i9 j10</move></game></games></database>"""
BOOKS = ("h8 i9\nh8 g7\n", "h8i9\nh8g7\n", "0,0, 1,-1\n-1,0, 2,2\n", FOREIGN, RIF)
WIDE = Variant(width=22, height=22)


def played(rng: random.Random) -> GameRecord:
    """A record of a random game, with everything that a record may have."""
    variant = Variant.parse(rng.choice(("3x3 line 3", "5x5", "standard 9x9", "caro 19x19")))
    moves = random_moves(variant, rng)[:30]
    outcome = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, rng.choice(NAMES))
    return GameRecord(
        variant=variant,
        black=rng.choice(NAMES),
        white=rng.choice(NAMES),
        moves=moves,
        times=tuple(timedelta(milliseconds=rng.randrange(10**5)) for _ in moves),
        opening_plies=rng.randint(0, len(moves)),
        time_control=TimeControl.parse(rng.choice(("60", "5+0.1", "1/move", "600+2,10/move"))),
        outcome=rng.choice((None, outcome)),
        start_time=rng.choice((None, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))),
    )


def short(form: FileFormat, rng: random.Random) -> str:
    """A file with a game that every format can hold."""
    record = replace(played(rng), variant=Variant(), moves=(112, 98), times=(), opening_plies=0)
    return RIF if form is FileFormat.RIF else write_game(record, form)


def read_all(form: FileFormat, text: str) -> list[GameRecord]:
    """The games of a file.

    Raises:
        ValueError: the file can't be read, or one of its games.
    """
    records = []
    for game in read_games([text.encode("utf-8", "replace")], form):
        assert (game.record is None) is bool(game.error)
        if game.record is None:
            raise ValueError(game.error)
        records.append(game.record)
    return records


class Kind(NamedTuple):
    """Texts of one kind."""

    good: Callable[[random.Random], str]
    """Draws one that can be read."""
    read: Callable[[str], Any]
    again: Callable[[Any], Any]
    """Writes what was read, and reads that."""
    rounds: int = ROUNDS


KINDS = {
    "record": Kind(
        lambda rng: rng.choice((to_sgf(played(rng)), FOREIGN)),
        from_sgf,
        lambda record: from_sgf(to_sgf(record)),
    ),
    "opening": Kind(
        lambda rng: rng.choice(("h8", "h8 i9 j10", "a1 b2", "v22 a1")),
        partial(parse_opening, variant=WIDE),
        lambda opening: parse_opening(format_opening(opening, WIDE), WIDE),
    ),
    "book": Kind(
        lambda rng: rng.choice(BOOKS),
        lambda text: read_openings(text.encode("utf-8", "replace"), Variant()),
        lambda book: [parse_opening(format_opening(each, Variant()), Variant()) for each in book],
        ROUNDS // 10,
    ),
    "variant": Kind(
        lambda rng: rng.choice(("15x15", "standard 15x15", "freestyle 3x3 line 3", "19x19")),
        Variant.parse,
        lambda variant: Variant.parse(str(variant)),
    ),
    "time control": Kind(
        lambda rng: rng.choice(("60", "5+0.1", "0.5+0.01", "1/move", "600+2,10/move", "5,1/move")),
        TimeControl.parse,
        lambda control: TimeControl.parse(str(control)),
    ),
    **{
        form.value: Kind(
            partial(short, form),
            partial(read_all, form),
            lambda games: [from_json(write_game(each, FileFormat.JSON)) for each in games],
            ROUNDS // 10,
        )
        for form in FileFormat
    },
}


@pytest.mark.parametrize("name", KINDS)
def test_a_text_is_read_or_refused_in_words(name: str) -> None:
    """What is read is written as something that is read the same."""
    kind, rng = KINDS[name], random.Random(SEED)
    refused = 0
    for _ in range(kind.rounds):
        text = mutated_text(kind.good(rng), rng)
        try:
            found = kind.read(text)
        except ValueError as error:
            assert str(error)  # noqa: PT017 - either is right
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {SEED}: {text!r}") from error
        else:
            assert kind.again(found) == found, text
    assert 0 < refused < kind.rounds
