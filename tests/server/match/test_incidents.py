"""What goes wrong without ending a game."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from meijin.server.match.arbiter.stalls import NS_PER_SECOND, Moment
from meijin.server.match.games import Games
from meijin.server.match.incidents import MOST_NAMES, Incidents
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.listeners import Absence, MassDisconnect
from meijin.server.match.live.store_watch import StoreWatch
from meijin.store.faults import NewFault
from meijin.store.schema import BotVersionId, FaultKind, FaultParty, GameId

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND = NS_PER_SECOND


class Bench:
    """Incidents, with what they look at."""

    def __init__(self) -> None:
        self.told: list[NewFault] = []
        self.store = SimpleNamespace(is_away=False)
        self.games = SimpleNamespace(running={1: None, 2: None})
        journal = SimpleNamespace(add_incident=self.told.append)
        self.incidents = Incidents(
            cast("Games", self.games),
            cast("Journal", journal),
            cast("StoreWatch", self.store),
            lambda: NOON,
        )


@pytest.fixture
def bench() -> Bench:
    """With two running games."""
    return Bench()


def absence(seconds: float, *, games: int = 2, is_excused: bool = False) -> Absence:
    """Of version 7."""
    ids = [GameId(number) for number in range(games)]
    return Absence(BotVersionId(7), int(seconds * SECOND), is_excused=is_excused, games=ids)


def test_an_absence_is_told_when_it_is_over(bench: Bench) -> None:
    """With how long it took, and the first of the games that waited."""
    bench.incidents.player_returned(absence(2.5, games=30))
    (fault,) = bench.told
    assert (fault.kind, fault.party) == (FaultKind.ABSENCE, FaultParty.CONNECTION)
    assert fault.detail == "away for 2.5 s; games that waited: 30"
    assert (fault.version_id, fault.time, fault.ending) == (7, NOON, None)
    assert fault.evidence["away_us"] == 2_500_000
    assert fault.evidence["games"] == 30
    assert fault.evidence["first_games"] == list(range(MOST_NAMES))


@pytest.mark.parametrize(("seconds", "is_excused"), [(0.9, False), (9.0, True)])
def test_some_absences_are_not_told(bench: Bench, seconds: float, *, is_excused: bool) -> None:
    """Short ones, and those that another entry explains."""
    bench.incidents.player_returned(absence(seconds, is_excused=is_excused))
    assert bench.told == []


def test_an_outage_is_told_when_it_is_over(bench: Bench) -> None:
    """Once, however often one looks."""
    for second, is_away in ((0, False), (1, True), (2, True), (4, False), (5, False)):
        bench.store.is_away = is_away
        bench.incidents.look(Moment(second * SECOND, 0), 0)
    (fault,) = bench.told
    assert (fault.kind, fault.party) == (FaultKind.OUTAGE, FaultParty.SERVER)
    assert fault.detail == "the database did not answer for 3.0 s"
    assert fault.evidence == {"lasted_us": 3_000_000, "games": 2}


def test_a_stall_is_told(bench: Bench) -> None:
    """One of half a second; shorter ones are no incident, however many there are."""
    for second, stall in enumerate((0.0, 0.4, 0.8, 1.5, 1.5)):
        bench.incidents.look(Moment(second * SECOND, 0), int(stall * SECOND))
    (fault,) = bench.told
    assert (fault.kind, fault.detail) == (FaultKind.STALL, "the server stood still for 0.7 s")


def test_a_restart_is_told_where_games_waited(bench: Bench) -> None:
    """A server that finds none has kept nobody waiting."""
    bench.incidents.restarted()
    (fault,) = bench.told
    assert (fault.kind, fault.party) == (FaultKind.OUTAGE, FaultParty.SERVER)
    assert fault.detail == "the server was restarted; games that waited: 2"
    bench.games.running.clear()
    bench.incidents.restarted()
    assert len(bench.told) == 1


def test_a_mass_disconnect_names_some_of_the_bots(bench: Bench) -> None:
    """An entry is bounded."""
    names = [f"bot-{number}" for number in range(30)]
    bench.incidents.mass_disconnected(MassDisconnect(names, 40))
    (fault,) = bench.told
    assert (fault.kind, fault.party) == (FaultKind.MASS_DISCONNECT, FaultParty.NETWORK)
    assert fault.detail == "30 of 40 bots lost their streams within seconds"
    assert len(fault.evidence["first_bots"]) == MOST_NAMES
    assert timedelta(0) == fault.time - NOON
