"""When a continuous ladder has been played long enough."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from meijin.store.schema import TournamentFormat
from meijin.store.tournaments import TournamentRow


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """What ends it: certainty, a number of games, or neither."""

    confidence: float
    """It ends when every bot is stronger than the next in rank with a higher chance; 0 for never.
    """
    most_games: int
    """0 for no bound."""

    @classmethod
    def of(cls, row: TournamentRow) -> "LadderPlan | None":
        """The plan of a tournament, if it is a continuous ladder."""
        if row.format is not TournamentFormat.LADDER or row.stopping is None:
            return None
        return cls.from_json(row.stopping)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "LadderPlan":
        """The inverse of `to_json`."""
        return cls(**stored)

    def to_json(self) -> dict[str, object]:
        """As it is stored."""
        return asdict(self)

    def settled(self) -> str:
        """The verdict when certainty has ended it."""
        return f"each bot is the stronger of its neighbours with a chance above {self.confidence:g}"

    def played_out(self) -> str:
        """The verdict when nobody has new games to play."""
        return "nothing is left to learn: whoever meets plays the same games again"

    def used_up(self, games: int) -> str:
        """The verdict after so many games; empty while there may be more."""
        return f"{games} games, the most there were to be" if 0 < self.most_games <= games else ""
