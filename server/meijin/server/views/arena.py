"""Views of running games as they are told again and again: what has changed since the last time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from meijin.game import Analysis, Color, Seat
from meijin.server.match.arbiter.stalls import Moment
from meijin.server.match.live.live_game import LiveGame
from meijin.server.views.games import (
    GameChoice,
    GameSummary,
    live_choice,
    live_summary,
    told_analysis,
)
from meijin.store.schema import GameId, GameState


@dataclass(frozen=True, slots=True)
class LiveClocks:
    """The clocks of a running game."""

    black_ns: int
    """Nanoseconds left; with only a cap per move, of the cap."""
    white_ns: int
    running: Color | None
    """Whose clock runs; ``None`` while none does."""


@dataclass(frozen=True, slots=True)
class LiveEvaluation:
    """What a bot said of a move of its own."""

    ply: int
    """How many stones lay on the board before it."""
    analysis: Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class GameUpdate:
    """What has changed in a running game, or its end."""

    id: GameId
    summary: GameSummary | None = None
    """At the first time, after the choice of a side, and at the end."""
    choice: GameChoice | None = None
    """Beside the summary: ``None`` where no side is chosen, or none yet."""
    ply: int
    """How many moves had been told before."""
    cells: Sequence[int] = ()
    """The moves since."""
    clocks: LiveClocks | None = None
    """``None`` where they are as they were told, or where the last move is not committed."""
    evaluations: Sequence[LiveEvaluation] = ()
    """The newest of each side, of the moves since."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return self.summary is None and self.clocks is None and not self.cells


class WatchedGame:
    """A running game, and what one watcher has been told of it. Nothing is told uncommitted."""

    __slots__ = ("_has_choice", "_is_new", "_ply", "_state", "game")

    def __init__(self, game: LiveGame) -> None:
        self.game = game
        self._is_new = True
        self._ply = 0
        self._has_choice = False
        self._state: tuple[int, int, bool, bool] | None = None

    def update(self, moment: Moment, *, has_ended: bool) -> GameUpdate | None:
        """What has changed since the last update; ``None`` where nothing has.

        Args:
            moment: Now.
            has_ended: Whether the game's end is committed.
        """
        game, arbiter = self.game, self.game.arbiter
        state = (arbiter.turn, arbiter.asked_at_ns, game.is_uncommitted, has_ended)
        if state == self._state:
            return None
        self._state = state
        update = self._changes(moment, has_ended=has_ended)
        return None if update.is_empty else update

    def _changes(self, moment: Moment, *, has_ended: bool) -> GameUpdate:
        game = self.game
        ply, cells = self._ply, game.committed_moves[self._ply :]
        has_choice = game.committed_choice is not None
        is_whole = self._is_new or has_ended or has_choice is not self._has_choice
        self._is_new, self._has_choice, self._ply = False, has_choice, ply + len(cells)
        is_settled = has_ended or not (game.is_uncommitted or game.arbiter.outcome)
        return GameUpdate(
            id=game.id,
            summary=_summary(game, has_ended=has_ended) if is_whole else None,
            choice=live_choice(game) if is_whole else None,
            ply=ply,
            cells=cells,
            clocks=live_clocks(game, moment) if is_settled else None,
            evaluations=tuple(_newest_evaluations(game, ply, self._ply)),
        )


def _summary(game: LiveGame, *, has_ended: bool) -> GameSummary:
    """A game as far as anybody may know: an end that is not committed is left out."""
    summary = live_summary(game)
    if has_ended:
        return summary
    return replace(summary, state=GameState.RUNNING, outcome=None, end_time=None)


def live_clocks(game: LiveGame, moment: Moment) -> LiveClocks:
    """The clocks of a game as of a moment; none runs once it has ended."""
    arbiter = game.arbiter
    black = Seat.SECOND if game.is_swapped else Seat.FIRST
    is_running = arbiter.asked_at_ns >= 0 and arbiter.outcome is None
    return LiveClocks(
        black_ns=arbiter.left_ns(black, moment),
        white_ns=arbiter.left_ns(black.other, moment),
        running=game.color(arbiter.seat_to_act) if is_running else None,
    )


def _newest_evaluations(game: LiveGame, start: int, end: int) -> Iterator[LiveEvaluation]:
    """What each side said last of its moves from one ply up to another."""
    if game.analysis is None:
        return
    missing = {Color.BLACK, Color.WHITE}
    for ply in reversed(range(start, end)):
        color = Color.BLACK if ply % 2 == 0 else Color.WHITE
        analysis = told_analysis(game.analysis.get(str(ply)), game.run.variant)
        if color in missing and analysis is not None:
            missing.remove(color)
            yield LiveEvaluation(ply, analysis)
        if not missing:
            return
