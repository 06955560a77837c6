"""What stands in a server, read at a scrape: bots, games, pairings, lag and stalls."""

import asyncio
from collections.abc import Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from meijin.server.match.arbiter.stalls import NS_PER_SECOND
from meijin.server.parts import Parts

QUANTILES = (0.5, 0.9, 1.0)
"""Of the streams' lag; 1 is the slowest stream."""


class Standing:
    """Reads the parts of a server from the thread of a scrape.

    A look takes copies of whole dictionaries, which no other thread can come between.
    """

    def __init__(self, parts: Parts, loop: asyncio.AbstractEventLoop) -> None:
        self._parts = parts
        self._loop = loop
        self._stall_ns = 0

    def collect(self) -> Iterator[Metric]:
        """Everything, for a registry."""
        parts = self._parts
        sessions = [
            player.session
            for player in list(parts.lobby.players.values())
            if player.session is not None
        ]
        runs = list(parts.scheduler.runs.values())
        yield _gauge("meijin_bots_connected", "Bots with an open stream.", len(sessions))
        yield _gauge("meijin_games_running", "Games being played.", len(parts.games.running))
        yield _gauge("meijin_tournaments_running", "Tournaments being played.", len(runs))
        yield _gauge(
            "meijin_games_pending",
            "Planned games that wait for their bots.",
            sum(len(run.pending) for run in runs),
        )
        yield _gauge(
            "meijin_store_failing",
            "1 while the database takes no commits, so that games wait.",
            int(parts.store_watch.is_away),
        )
        yield _gauge(
            "meijin_journal_waiting_seconds",
            "How long the commit under way has been waiting; 0 without one.",
            self._waiting(),
        )
        yield self._stalls()
        yield _lags(sorted(session.lag_ns for session in sessions))

    def _waiting(self) -> float:
        since = self._parts.journal.committing_since
        return 0.0 if since is None else max(0.0, self._loop.time() - since)

    def _stalls(self) -> Metric:
        """The stalls; never less than before, though the event loop may tick between two reads."""
        self._stall_ns = max(self._stall_ns, self._parts.watch.moment().stall_ns)
        return CounterMetricFamily(
            "meijin_event_loop_stall_seconds",
            "How long the event loop stood still, which no clock is charged.",
            self._stall_ns / NS_PER_SECOND,
        )


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value)


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
