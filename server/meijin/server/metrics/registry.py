"""All metrics of a server, put together."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Info,
    Metric,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from meijin.game import Ending
from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.credentials import Credentials
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.witnesses import Verdict
from meijin.server.parts import Parts

QUANTILES = (0.5, 0.9, 1.0)
"""Of the streams' lag; 1 is the slowest stream."""

ON_THE_BOARD = frozenset({Ending.FIVE, Ending.DRAW})
"""Endings by a move, which is committed with the end."""


class GameCounts(Listener):
    """Counts moves, games and streams, as they are committed: one addition a commit for all moves."""

    def __init__(self) -> None:
        self._streams = _counter("streams_opened", "Bots' streams that were let in.")
        self._moves = _counter("moves", "Moves that were committed.")
        self._started = _counter("games_started", "Games whose start was committed.")
        self._ended = _counter(
            "games_ended",
            "Games whose end was committed, by ending and party at fault.",
            "ending",
            "party",
        )
        self._disputed = _counter(
            "games_disputed",
            "Games of an earlier server of which a bot knew other moves, by what came of it.",
            "verdict",
        )
        for verdict in Verdict:
            self._disputed.labels(verdict.value)

    def collect(self) -> Iterator[Metric]:
        counters = (self._streams, self._moves, self._started, self._ended, self._disputed)
        for counter in counters:
            yield from counter.collect()

    def player_joined(self, player: Participant) -> None:  # noqa: ARG002 - a listener's signature
        self._streams.inc()

    def game_disputed(self, game: LiveGame) -> None:
        assert game.witnesses is not None
        self._disputed.labels(game.witnesses.verdict().value).inc()

    def game_started(self, game: LiveGame) -> None:  # noqa: ARG002 - a listener's signature
        self._started.inc()

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        self._moves.inc(len(games))

    def game_ended(self, game: LiveGame) -> None:
        """Count an end, and the move that it came by."""
        outcome = game.final_outcome
        self._ended.labels(outcome.ending.value, outcome.at_fault.value).inc()
        if outcome.ending in ON_THE_BOARD:
            self._moves.inc()


def _counter(name: str, meaning: str, *labels: str) -> Counter:
    return Counter(f"meijin_{name}", meaning, labels, registry=None)


class LiveMetrics:
    """Reads the parts of a server from the thread of a scrape.

    A look takes copies of whole dictionaries, which no other thread can come between.
    """

    def __init__(self, parts: Parts, loop: asyncio.AbstractEventLoop) -> None:
        self._parts = parts
        self._loop = loop
        self._stall_ns = 0

    def collect(self) -> Iterator[Metric]:
        parts = self._parts
        players, runs = list(parts.lobby.players.values()), list(parts.scheduler.runs.values())
        sessions = [player.session for player in players if player.session is not None]
        seats = parts.scheduler.seats
        hosts, since = list(seats.hosts.values()), parts.journal.commits.since
        for name, meaning, value in (
            ("bots_connected", "Bots with an open stream.", len(sessions)),
            ("games_running", "Games being played.", len(parts.games.running)),
            ("tournaments_running", "Tournaments being played.", len(runs)),
            (
                "games_pending",
                "Planned games that wait for their bots.",
                sum(len(run.pending) for run in runs),
            ),
            ("hosts_connected", "Hosts with an open stream.", len(hosts)),
            ("host_places", "Programs that these may seat at once.", sum(h.room for h in hosts)),
            ("programs_seated", "Programs on hosts.", sum(len(h.seats) for h in hosts)),
            ("programs_callable", "Programs that may be called.", len(seats.programs)),
            ("games_called", "Games that wait for their programs to start.", len(seats.calls)),
            (
                "store_failing",
                "1 while the database takes no commits, so that games wait.",
                int(parts.store_watch.is_away),
            ),
            (
                "journal_waiting_seconds",
                "How long the commit under way has been waiting; 0 without one.",
                0.0 if since is None else max(0.0, self._loop.time() - since),
            ),
        ):
            yield GaugeMetricFamily(f"meijin_{name}", meaning, value)
        yield self._stalls()
        yield _lags(sorted(session.lag_ns for session in sessions))

    def _stalls(self) -> Metric:
        """The stalls; never less than before, though the event loop may tick between two reads."""
        self._stall_ns = max(self._stall_ns, self._parts.watch.moment().stall_ns)
        return CounterMetricFamily(
            "meijin_event_loop_stall_seconds",
            "How long the event loop stood still, which no clock is charged.",
            self._stall_ns / NS_PER_SECOND,
        )


def _lags(lags_ns: Sequence[int]) -> Metric:
    family = GaugeMetricFamily(
        "meijin_stream_lag_seconds",
        "Round trip on the open streams, as measured by pings.",
        labels=("quantile",),
    )
    for quantile in QUANTILES if lags_ns else ():
        place = min(len(lags_ns) - 1, int(quantile * len(lags_ns)))
        family.add_metric((f"{quantile:g}",), lags_ns[place] / NS_PER_SECOND)
    return family


class CertificateExpiry:
    """Tells when the server's certificate expires, and the authority's that clients are held to."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def collect(self) -> Iterator[Metric]:
        """The seconds that are left of each, for a registry; negative once it has expired."""
        family = GaugeMetricFamily(
            "meijin_certificate_expiry_seconds",
            "Until a certificate that is in use expires; negative once it has.",
            labels=("certificate",),
        )
        ends, now = self._credentials.ends, datetime.now(UTC)
        family.add_metric(("server",), (ends.server - now).total_seconds())
        if ends.client_ca is not None:
            family.add_metric(("client_ca",), (ends.client_ca - now).total_seconds())
        yield family


def make_registry(*collectors: Collector) -> CollectorRegistry:
    """A registry of the process, the release and `collectors`."""
    # Else each count has a second line, of when it was first made.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Info("meijin_build", "The release that runs.", registry=registry).info(
        {"version": version("meijin")}
    )
    for collector in collectors:
        registry.register(collector)
    return registry
