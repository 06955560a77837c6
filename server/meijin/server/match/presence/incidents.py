"""Incidents in games that go on: absences, outages and stalls, for the fault ledger."""

from datetime import UTC, datetime
from typing import Any

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.server.match.games import Games
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.listeners import Absence, Listener, MassDisconnect
from meijin.server.match.live.store_watch import StoreWatch
from meijin.store.schema import BotVersionId, Fault, FaultKind, FaultParty

LEAST_ABSENCE_NS = NS_PER_SECOND
"""A shorter one is the reconnection of a healthy bot."""

LEAST_STALL_NS = NS_PER_SECOND // 2
"""A shorter one is what a busy machine does."""

MOST_NAMES = 20
"""Of games or bots that an entry names."""


class Incidents(Listener):
    """Adds to the ledger what went wrong without ending a game."""

    def __init__(self, games: Games, journal: Journal, store_watch: StoreWatch) -> None:
        self._games = games
        self._journal = journal
        self._store_watch = store_watch
        self._stall_ns = 0
        self._outage_since_ns: int | None = None

    def restarted(self) -> None:
        """Games of an earlier server go on: they have waited for this one."""
        count = len(self._games.running)
        if count:
            detail = f"the server was restarted; games that waited: {count}"
            self._add(FaultKind.OUTAGE, FaultParty.SERVER, detail, {"games": count})

    def look(self, moment: Moment, counted_ns: int) -> None:
        """See whether the server has stood still, as far as that is over, or its store is back."""
        stall_ns = counted_ns - self._stall_ns
        self._stall_ns = counted_ns
        if stall_ns >= LEAST_STALL_NS:
            self._tell_of_server(FaultKind.STALL, "the server stood still for", stall_ns)
        if self._store_watch.is_away:
            if self._outage_since_ns is None:
                self._outage_since_ns = moment.served_ns
        elif self._outage_since_ns is not None:
            away_ns = moment.served_ns - self._outage_since_ns
            self._outage_since_ns = None
            self._tell_of_server(FaultKind.OUTAGE, "the database did not answer for", away_ns)

    def player_returned(self, absence: Absence) -> None:
        if absence.is_excused or absence.away_ns < LEAST_ABSENCE_NS:
            return
        seconds = absence.away_ns / NS_PER_SECOND
        detail = f"away for {seconds:.1f} s; games that waited: {len(absence.games)}"
        evidence = {
            "away_us": absence.away_ns // 1000,
            "games": len(absence.games),
            "first_games": list(absence.games[:MOST_NAMES]),
        }
        self._add(FaultKind.ABSENCE, FaultParty.CONNECTION, detail, evidence, absence.version_id)

    def mass_disconnected(self, loss: MassDisconnect) -> None:
        count = len(loss.names)
        what = "fell silent together" if loss.is_silent else "lost their streams within seconds"
        detail = f"{count} of {loss.connected} bots {what}"
        names = list(loss.names[:MOST_NAMES])
        evidence = {"bots": count, "connected": loss.connected, "first_bots": names}
        self._add(FaultKind.MASS_DISCONNECT, FaultParty.NETWORK, detail, evidence)

    def _tell_of_server(self, kind: FaultKind, words: str, lasted_ns: int) -> None:
        evidence = {"lasted_us": lasted_ns // 1000, "games": len(self._games.running)}
        detail = f"{words} {lasted_ns / NS_PER_SECOND:.1f} s"
        self._add(kind, FaultParty.SERVER, detail, evidence)

    def _add(
        self,
        kind: FaultKind,
        party: FaultParty,
        detail: str,
        evidence: dict[str, Any],
        version_id: BotVersionId | None = None,
    ) -> None:
        fault = Fault(
            kind=kind,
            party=party,
            detail=detail,
            create_time=datetime.now(UTC),
            evidence=evidence,
            version_id=version_id,
        )
        self._journal.add_incident(fault)
