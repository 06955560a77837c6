"""The turning point of a game: the move after which its loser's chance never came back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from meijin.game.color import Color
from meijin.game.outcome import Ending
from meijin.game.records.chances import ChanceMap
from meijin.game.records.record import GameRecord

LEAST_FALL = 0.15
"""Of a chance that is a turning point."""
EVEN = 0.5


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """The move with the largest fall of a chance that did not come back."""

    ply: int
    """How many stones lay on the board after it."""
    color: Color
    """Who made it."""
    before: float
    """The mover's chance, 0 to 1."""
    after: float
    """The most that it was from then on."""

    @property
    def fall(self) -> float:
        return self.before - self.after


def turning_point(record: GameRecord, maps: Mapping[Color, ChanceMap]) -> TurningPoint | None:
    """The turning point of a game that has ended, by what its bots said of their moves.

    In a game without a winner it is the move that gave away most of a better side's chance.
    ``None`` where nothing fell by more than `LEAST_FALL`, or nobody said anything.
    """
    outcome = record.outcome
    if outcome is None or outcome.ending is Ending.VOID:
        return None
    if outcome.winner is not None:
        falls = list(_falls(record, maps, outcome.winner.other))
    else:
        falls = [
            each for side in Color for each in _falls(record, maps, side) if each.before > EVEN
        ]
    deepest = max(falls, key=lambda each: (each.fall, -each.ply), default=None)
    return deepest if deepest is not None and deepest.fall > LEAST_FALL else None


def _falls(
    record: GameRecord, maps: Mapping[Color, ChanceMap], side: Color
) -> Iterator[TurningPoint]:
    """The side's moves after which its chance was never again what it had been, last first."""
    after = 0.0
    for (_, before), (stones, chance) in reversed([*pairwise(_chances(record, maps, side))]):
        after = max(after, chance)
        ply = stones if _mover(stones - 1) is side else stones - 1
        if before > after and ply > record.opening_plies:
            yield TurningPoint(ply, side, before, after)


def _chances(
    record: GameRecord, maps: Mapping[Color, ChanceMap], side: Color
) -> Iterator[tuple[int, float]]:
    """A side's chance at each number of stones: of what both bots said last, the less hopeful.

    It begins when all have spoken who ever do: one that joins in later changes no chance.
    """
    told = [
        (stones, _mover(stones), said.score)
        for stones, said in enumerate(record.analysis)
        if said is not None and said.score is not None and stones >= record.opening_plies
    ]
    speakers = {mover for _, mover, _ in told}
    last: dict[Color, float] = {}
    for stones, mover, score in told:
        own = maps[mover].chance(score)
        last[mover] = own if mover is side else 1 - own
        if last.keys() == speakers:
            yield stones, min(last.values())
    if told and record.outcome is not None and record.outcome.ending is Ending.FIVE:
        yield len(record.moves), float(record.outcome.winner is side)


def _mover(stones: int) -> Color:
    """Who moves with so many stones on the board."""
    return Color.WHITE if stones % 2 else Color.BLACK
