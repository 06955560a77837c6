"""Counts of moves, games and streams, told by the match once a commit."""

from collections.abc import Iterator, Sequence

from prometheus_client import Counter, Metric

from meijin.game import Ending
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.witnesses import Verdict

ON_THE_BOARD = frozenset({Ending.FIVE, Ending.DRAW})
"""Endings by a move, which is committed with the end."""


class GameCounts(Listener):
    """Counts what is committed: one addition a commit for all its moves."""

    def __init__(self) -> None:
        self._streams = Counter(
            "meijin_streams_opened", "Bots' streams that were let in.", registry=None
        )
        self._moves = Counter("meijin_moves", "Moves that were committed.", registry=None)
        self._started = Counter(
            "meijin_games_started", "Games whose start was committed.", registry=None
        )
        self._ended = Counter(
            "meijin_games_ended",
            "Games whose end was committed, by ending and party at fault.",
            ("ending", "party"),
            registry=None,
        )
        self._disputed = Counter(
            "meijin_games_disputed",
            "Games of an earlier server of which a bot knew other moves, by what came of it.",
            ("verdict",),
            registry=None,
        )
        for verdict in Verdict:
            self._disputed.labels(verdict.value)

    def collect(self) -> Iterator[Metric]:
        """The counts, for a registry."""
        counters = (self._streams, self._moves, self._started, self._ended, self._disputed)
        for counter in counters:
            yield from counter.collect()

    def player_joined(self, player: Participant) -> None:  # noqa: ARG002 - a listener's signature
        """Count a stream."""
        self._streams.inc()

    def game_disputed(self, game: LiveGame) -> None:
        """Count a dispute."""
        assert game.witnesses is not None
        self._disputed.labels(game.witnesses.verdict().value).inc()

    def game_started(self, game: LiveGame) -> None:  # noqa: ARG002 - a listener's signature
        """Count a start."""
        self._started.inc()

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """Count a commit's moves."""
        self._moves.inc(len(games))

    def game_ended(self, game: LiveGame) -> None:
        """Count an end, and the move that it came by."""
        outcome = game.arbiter.outcome
        assert outcome is not None
        self._ended.labels(outcome.ending.value, outcome.at_fault.value).inc()
        if outcome.ending in ON_THE_BOARD:
            self._moves.inc()
