"""A match that a sequential test ends: what is tested, and where the test stands."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from meijin.ladder.statistics.sprt import Decision, Estimate, Scale, Sprt
from meijin.store.match_counts import MatchCounts
from meijin.store.schema import TournamentFormat
from meijin.store.tournaments import TournamentRow

SCALE_WORDS = {Scale.NORMALISED: "normalised Elo", Scale.LOGISTIC: "Elo"}


class Unit(Enum):
    """What the test counts."""

    PAIRS = "pairs"
    """Complete pairs of games on one opening."""
    GAMES = "games"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a test stands."""

    counts: MatchCounts
    llr: float
    decision: Decision
    estimate: Estimate | None
    """``None`` before the first result."""


@dataclass(frozen=True, slots=True)
class SprtPlan:
    """The test of a match, for its first bot against its second."""

    test: Sprt
    unit: Unit
    most_games: int
    """Even. After so many the match ends undecided."""

    @classmethod
    def of(cls, row: TournamentRow) -> "SprtPlan | None":
        """The test of a tournament, if one ends it."""
        if row.format is not TournamentFormat.SPRT or row.stopping is None:
            return None
        return cls.from_json(row.stopping)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SprtPlan":
        """The inverse of `to_json`."""
        test = Sprt(
            stored["elo0"],
            stored["elo1"],
            alpha=stored["alpha"],
            beta=stored["beta"],
            scale=Scale(stored["scale"]),
        )
        return cls(test, Unit(stored["unit"]), stored["most_games"])

    def to_json(self) -> dict[str, object]:
        """As it is stored."""
        return {
            **asdict(self.test),
            "scale": self.test.scale.value,
            "unit": self.unit.value,
            "most_games": self.most_games,
        }

    def standing(self, counts: MatchCounts) -> Standing:
        """What results say, however they came about."""
        used: Sequence[int] = counts.pairs if self.unit is Unit.PAIRS else counts.games
        if not any(used):
            return Standing(counts, 0.0, Decision.UNDECIDED, None)
        llr = self.test.llr(used)
        return Standing(counts, llr, self.test.decide(llr), Estimate.of(used))

    def verdict(self, standing: Standing, first: str, second: str) -> str:
        """Why a match with this standing is over, in words; empty while it is not."""
        played = standing.counts.played
        if standing.decision is Decision.UNDECIDED:
            is_used_up = played >= self.most_games
            return (
                f"undecided after {played} games, the most there were to be" if is_used_up else ""
            )
        elos = [self.test.elo1, self.test.elo0]
        if standing.decision is Decision.H0_ACCEPTED:
            elos.reverse()
        words = SCALE_WORDS[self.test.scale]
        return f"{first} over {second}: {elos[0]:g} {words} accepted, {elos[1]:g} rejected"
