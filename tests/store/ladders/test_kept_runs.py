"""Runs that the first release has published: every later one computes them to the last byte."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, select
from tests.store.first_release import first_release
from tests.store.stored import stored

from meijin.ladder.refresh import refresh
from meijin.ladder.verification.verify import verify
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.days import last_mark
from meijin.store.ladders.games import fingerprint
from meijin.store.ladders.runs import list_runs
from meijin.store.rows import add_row, read_rows
from meijin.store.schema import Game, GameId, Ladder, LadderId, Pairing, PairingId, RatingRunId

LADDER = LadderId(1)
RUNS = [RatingRunId(number) for number in (1, 2, 3)]
LATER = datetime(2026, 1, 3, 15, tzinfo=UTC)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Database]:
    with first_release(tmp_path) as database:
        yield database


@pytest.mark.parametrize("run_id", RUNS)
def test_old_runs_verify_byte_for_byte(kept: Database, run_id: RatingRunId) -> None:
    """From the log as it is now, and as it was before games were voided."""
    found = verify(kept, LADDER, run_id)
    assert (found.run.id, found.differences) == (run_id, ())


def test_all_that_has_ended_is_in_the_log(kept: Database) -> None:
    """No game is counted again, and the ladder is as current as it was."""
    assert stored(kept, Ladder.sequenced, Ladder.revision, Ladder.games) == [(29, 32, 26)]
    assert not kept.read(ladders.is_dirty, LADDER)
    assert refresh(kept, LADDER, lambda: LATER) is None


def play_again(connection: Connection, number: int, more: bytes) -> None:
    """End a game that is the last old one with some more moves."""
    (game,) = read_rows(Game, connection.execute(select(Game).where(Game.end_sequence == 29)))
    pairings = select(Pairing).where(Pairing.id == game.pairing_id)
    (pairing,) = read_rows(Pairing, connection.execute(pairings))
    pairing = replace(pairing, id=PairingId(pairing.id + number), number=99 + number)
    add_row(connection, pairing)
    moves = game.moves + more
    again = replace(
        game,
        id=GameId(game.id + number),
        pairing_id=pairing.id,
        end_sequence=29 + number,
        moves=moves,
        fingerprint=fingerprint(game.black_id, game.white_id, game.opening_plies, moves),
    )
    add_row(connection, again)


def test_the_next_run_counts_old_games_with_new_ones(kept: Database) -> None:
    """A game that ends now, the same as an old one, is marked; the run of both can be verified.

    Its tallies take the place of those that an earlier algorithm chained.
    """
    for number, more in ((1, b""), (2, b"\1\0")):
        kept.write(play_again, number, more)
    run = refresh(kept, LADDER, lambda: LATER)
    assert run is not None
    assert (run.revision, run.games, run.repeats, run.cutoff) == (34, 27, 2, 31)
    assert verify(kept, LADDER).differences == ()
    mark = kept.read(last_mark, LADDER)
    assert mark is not None
    assert mark.cutoff == run.cutoff
    assert [verify(kept, LADDER, run_id).differences for run_id in RUNS] == [(), (), ()]
    assert len(kept.read(list_runs, LADDER, limit=9)) == 4
