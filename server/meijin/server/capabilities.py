"""What a bot can play, as it said in its hello."""

from dataclasses import dataclass
from datetime import timedelta

from meijin.game import FREESTYLE, Rule, TimeControl, Variant

GOMOKU_LINE = 5


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A bot is never paired outside of these."""

    rules: tuple[Rule, ...] = (FREESTYLE,)
    min_size: int = 15
    """The shortest side of a board."""
    max_size: int = 15
    """The longest side of a board."""
    max_games: int = 1
    """Games at once."""
    min_move_time: timedelta = timedelta(0)
    """The least time that a move needs."""
    any_line: bool = False
    """Any number of stones in a row, not only five."""

    def objection(self, variant: Variant, time_control: TimeControl) -> str | None:
        """Why the bot can't play this, or ``None`` when it can."""
        if variant.rule not in self.rules:
            return f"does not play {variant.rule.name}"
        if min(variant.width, variant.height) < self.min_size:
            return f"needs boards of at least {self.min_size}x{self.min_size}"
        if max(variant.width, variant.height) > self.max_size:
            return f"needs boards of at most {self.max_size}x{self.max_size}"
        if variant.line != GOMOKU_LINE and not self.any_line:
            return "plays five in a row only"
        if move_time(time_control) < self.min_move_time:
            return f"needs {self.min_move_time.total_seconds():g} s a move"
        return None


def move_time(time_control: TimeControl) -> timedelta:
    """What a time control gives for one move of a long game, about forty moves a side."""
    limits = []
    if time_control.initial is not None:
        limits.append(time_control.initial / 40 + time_control.increment)
    if time_control.per_move is not None:
        limits.append(time_control.per_move)
    return min(limits)
