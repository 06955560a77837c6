"""What goes wrong without ending a game."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.match.live.listeners import Absence, MassDisconnect
from meijin.server.match.presence.incidents import MOST_NAMES, Incidents
from meijin.store.schema import BotVersionId, Fault, FaultKind, FaultParty, GameId

SECOND = NS_PER_SECOND


class Bench:
    """Incidents, with what they look at."""

    def __init__(self) -> None:
        self.told: list[Fault] = []
        self.store = SimpleNamespace(is_away=False)
        self.games = SimpleNamespace(running={1: None, 2: None})
        journal = SimpleNamespace(add_incident=self.told.append)
        parts = cast("tuple[Any, Any, Any]", (self.games, journal, self.store))
        self.incidents = Incidents(*parts)

    def check(self, kind: FaultKind, party: FaultParty, detail: str, **evidence: object) -> None:
        (fault,) = self.told
        assert (fault.kind, fault.party, fault.detail) == (kind, party, detail)
        assert (fault.ending, fault.evidence) == (None, evidence)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def absence(seconds: float, *, is_excused: bool = False) -> Absence:
    ids = [GameId(number) for number in range(30)]
    return Absence(BotVersionId(7), int(seconds * SECOND), is_excused=is_excused, games=ids)


def test_an_absence_is_told_when_it_is_over(bench: Bench) -> None:
    """With how long it took, and the first of the games that waited.

    Short ones are not, nor those that another entry explains.
    """
    for each in (absence(0.9), absence(9, is_excused=True), absence(2.5)):
        bench.incidents.player_returned(each)
    bench.check(
        FaultKind.ABSENCE,
        FaultParty.CONNECTION,
        "away for 2.5 s; games that waited: 30",
        away_us=2_500_000,
        games=30,
        first_games=list(range(MOST_NAMES)),
    )
    assert bench.told[0].version_id == 7


def test_an_outage_is_told_when_it_is_over(bench: Bench) -> None:
    for second, is_away in ((0, False), (1, True), (2, True), (4, False), (5, False)):
        bench.store.is_away = is_away
        bench.incidents.look(Moment(second * SECOND, 0), 0)
    detail = "the database did not answer for 3.0 s"
    bench.check(FaultKind.OUTAGE, FaultParty.SERVER, detail, lasted_us=3_000_000, games=2)


def test_a_stall_is_told(bench: Bench) -> None:
    """One of half a second; shorter ones are no incident, however many there are."""
    for second, stall in enumerate((0.0, 0.4, 0.8, 1.5, 1.5)):
        bench.incidents.look(Moment(second * SECOND, 0), int(stall * SECOND))
    detail = "the server stood still for 0.7 s"
    bench.check(FaultKind.STALL, FaultParty.SERVER, detail, lasted_us=700_000, games=2)


def test_a_restart_is_told_where_games_waited(bench: Bench) -> None:
    """A server that finds none has kept nobody waiting."""
    bench.incidents.restarted()
    bench.games.running.clear()
    bench.incidents.restarted()
    detail = "the server was restarted; games that waited: 2"
    bench.check(FaultKind.OUTAGE, FaultParty.SERVER, detail, games=2)


def test_a_mass_disconnect_names_some_of_the_bots(bench: Bench) -> None:
    names = [f"bot-{number}" for number in range(30)]
    bench.incidents.mass_disconnected(MassDisconnect(names, 40))
    bench.check(
        FaultKind.MASS_DISCONNECT,
        FaultParty.NETWORK,
        "30 of 40 bots lost their streams within seconds",
        bots=30,
        connected=40,
        first_bots=names[:MOST_NAMES],
    )
