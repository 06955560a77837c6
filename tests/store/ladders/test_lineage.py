"""What versions came from, and when they last played, on SQLite and PostgreSQL."""

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from meijin.game import Result
from meijin.ladder.tally import Snapshot, Tally
from meijin.store.ladders import ladders
from meijin.store.ladders.lineage import parents_of
from meijin.store.ladders.log import logged_games

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def both(league: "League", then: Snapshot | None = None) -> tuple[Snapshot, Snapshot]:
    """A snapshot, and the same from the log; of now, or as it was at another one."""
    now = league.snapshot()
    then = then or now

    def read(connection: Connection) -> Snapshot:
        anchors = ladders.anchors(connection, league.ladder_id)
        ladder = ladders.ladder_row(connection, league.ladder_id)
        games = logged_games(connection, league.ladder_id, cutoff=then.cutoff, voided=then.voided)
        tally = Tally.of(games)
        return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))

    return now, league.database.read(read)


def days_of(snapshot: Snapshot) -> list[tuple[int, str]]:
    """The last days as text."""
    return [(version, day.isoformat()) for version, day in sorted(snapshot.last_days.items())]


def test_parents_are_followed_to_the_first_version(any_league: "League") -> None:
    """Those who have never played too, but none that came later than who plays."""
    old = any_league.versions[0]
    silent = any_league.renew(0, "2.0")
    played = any_league.renew(0, "3.0")
    any_league.finish((0, 1, BLACK))
    any_league.renew(0, "4.0")
    any_league.renew(1, "2.0")
    for found in both(any_league):
        assert found.parents == [(silent, old), (played, silent)]


def test_parents_of_nobody_are_none(any_league: "League") -> None:
    """As on a ladder without games."""
    any_league.renew(0, "2.0")
    assert any_league.database.read(lambda at: parents_of(at, [])) == []
    assert both(any_league)[0].parents == both(any_league)[1].parents == []


def test_a_version_that_comes_later_leaves_an_older_run_alone(any_league: "League") -> None:
    """Its games are after the cut-off, and so is it."""
    any_league.renew(0, "2.0")
    any_league.finish((0, 1, BLACK))
    then = any_league.snapshot()
    any_league.renew(0, "3.0")
    any_league.finish((0, 1, BLACK), day=3)
    now, log_then = both(any_league, then)
    assert (log_then.parents, log_then.last_days) == (then.parents, then.last_days)
    assert log_then.checksum == then.checksum != now.checksum


def test_the_last_day_is_that_of_a_rated_game(any_league: "League") -> None:
    """With either colour; games that repeat others or are void don't count."""
    any_league.finish((0, 1, BLACK), line=(7,))
    any_league.finish((1, 2, DRAW), (3, 0, WHITE), day=2)
    any_league.finish((0, 1, BLACK), line=(7,), day=5)
    any_league.finish((4, 0, BLACK), day=6)
    any_league.void(5)
    a, b, c, d, _ = any_league.versions
    days = [(a, "2026-01-03"), (b, "2026-01-03"), (c, "2026-01-03"), (d, "2026-01-03")]
    for found in both(any_league):
        assert days_of(found) == days


def test_a_game_that_ends_late_may_be_of_an_earlier_day(any_league: "League") -> None:
    """The latest day counts, in whatever order games were committed."""
    any_league.finish((0, 1, BLACK), day=4)
    any_league.finish((1, 0, BLACK), day=3)
    a, b = any_league.versions[:2]
    for found in both(any_league):
        assert days_of(found) == [(a, "2026-01-05"), (b, "2026-01-05")]


def test_the_checksum_covers_lineage(any_league: "League") -> None:
    """The ratings follow from it too."""
    any_league.renew(0, "2.0")
    any_league.finish((0, 1, BLACK))
    found = any_league.snapshot()
    assert replace(found, parents=[]).checksum != found.checksum
