"""The plies of a game as people read them: moves, times, clocks, and the bots' own words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from meijin.game import Analysis, Color, GameRecord, cell_name
from meijin.game.board.forbidden import forbidden_by_ply
from meijin.game.records.recorded_turn import ClockReading, recorded_clocks
from meijin.v1 import game_pb2
from meijin.wire.records import decision_times

GAMES_KEPT = 64
"""Of which it is known where no stone may be placed; a running game is another at each ply."""


@dataclass(frozen=True, slots=True)
class ShownPly:
    """A move, and how things stand after it; at ply 0 there is no move."""

    number: int
    cell: int | None = None
    name: str = ""
    """Of the cell."""
    is_opening: bool = False
    """It was set up, and chosen by nobody."""
    raw: timedelta | None = None
    """``None`` where no time was taken."""
    charged: timedelta | None = None
    cpu: timedelta | None = None
    """The processor time that a hosted program took; ``None`` where nobody has measured it."""
    said: Analysis | None = None
    """What its bot thought of it."""
    line: tuple[str, ...] = ()
    """The cells that it expected, beginning with its own."""
    forbidden: tuple[int, ...] = ()
    """Where the next stone may not be placed."""
    clocks: ClockReading | None = None
    """``None`` where each move is limited alone."""

    @property
    def side(self) -> Color | None:
        """Who has moved; ``None`` at ply 0."""
        if self.cell is None:
            return None
        return Color.BLACK if self.number % 2 else Color.WHITE

    @property
    def black_score(self) -> int | None:
        """The score that its bot told, from black's side; ``None`` where it told none."""
        if self.said is None or self.said.score is None:
            return None
        return self.said.score if self.side is Color.BLACK else -self.said.score


def shown_plies(message: game_pb2.Game, record: GameRecord) -> tuple[ShownPly, ...]:
    """Every ply of a game from 0 on, the empty board.

    Args:
        message: The game with its moves.
        record: The same game.
    """
    clocks, forbidden = _clocks(message, record), _forbidden(record)
    said = record.analysis or [None] * len(message.moves)
    plies = [
        _ply(number, move, each, record)
        for number, (move, each) in enumerate(zip(message.moves, said, strict=True), start=1)
    ]
    return tuple(
        replace(ply, clocks=clock, forbidden=cells)
        for ply, clock, cells in zip([ShownPly(0), *plies], clocks, forbidden, strict=True)
    )


def _ply(number: int, move: game_pb2.Move, said: Analysis | None, record: GameRecord) -> ShownPly:
    is_timed, variant = move.HasField("raw_time"), record.variant
    return ShownPly(
        number,
        cell=move.cell,
        name=cell_name(move.cell, variant),
        is_opening=number <= record.opening_plies,
        raw=move.raw_time.ToTimedelta() if is_timed else None,
        charged=move.charged_time.ToTimedelta() if is_timed else None,
        cpu=move.cpu_time.ToTimedelta() if move.HasField("cpu_time") else None,
        said=said,
        line=() if said is None else tuple(cell_name(cell, variant) for cell in said.pv),
    )


def _clocks(message: game_pb2.Game, record: GameRecord) -> Sequence[ClockReading | None]:
    if record.time_control is None or record.time_control.initial is None:
        return [None] * (len(record.moves) + 1)
    return list(recorded_clocks(record, decision_times(message)))


def _forbidden(record: GameRecord) -> Sequence[tuple[int, ...]]:
    if not record.variant.rule.has_forbidden_cells:
        return [()] * (len(record.moves) + 1)
    return _kept_forbidden(record.moves, record.variant)


_kept_forbidden = lru_cache(maxsize=GAMES_KEPT)(forbidden_by_ply)
