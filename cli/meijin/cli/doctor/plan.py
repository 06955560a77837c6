"""The plan: what is played, by what the bot claims."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from meijin.game import FREE, FREESTYLE, OpeningRule, Rule, TimeControl, Variant
from meijin.game.rules.variant import MIN_GOMOKU_SIDE
from meijin.wire import Capabilities
from meijin.wire.capabilities import USUAL_SIZE, move_time

USUAL_CONTROL = TimeControl.parse("2+0.1")
"""Games are short, and leave room for a machine that is busy otherwise."""

FAST_CONTROL = TimeControl.parse("1+0.05")
"""For the check of how the bot keeps to a clock."""

LONG_CONTROL = TimeControl.parse("60+1")
"""For a game in which streams are cut: nobody is to lose it on time."""

MOST_AT_ONCE = 8
"""The most games at once that are tried, of however many the bot claims."""


def usual_control(capabilities: Capabilities) -> TimeControl:
    """The clock of most games: the usual one, or twice what the bot says a move needs."""
    return _control(USUAL_CONTROL, capabilities, 2 * capabilities.min_move_time)


def fast_control(capabilities: Capabilities) -> TimeControl:
    """The fastest clock that the bot takes, within reason."""
    return _control(FAST_CONTROL, capabilities, capabilities.min_move_time)


def long_control(capabilities: Capabilities) -> TimeControl:
    """A clock on which nobody loses whose stream was cut."""
    return _control(LONG_CONTROL, capabilities, 60 * capabilities.min_move_time)


def _control(usual: TimeControl, capabilities: Capabilities, cap: timedelta) -> TimeControl:
    if move_time(usual) >= capabilities.min_move_time:
        return usual
    return TimeControl(initial=None, per_move=cap)


def first_variant(capabilities: Capabilities) -> Variant:
    """What the bot is tried at first: the most usual of what it claims."""
    rule = FREESTYLE if FREESTYLE in capabilities.rules else capabilities.rules[0]
    openings = capabilities.opening_rules
    side = _usual_side(capabilities)
    opening_rule = FREE if FREE in openings else openings[0]
    return Variant(rule=rule, width=side, height=side, opening_rule=opening_rule)


def opening_variant(capabilities: Capabilities, opening_rule: OpeningRule) -> Variant:
    """The usual board with an opening rule."""
    return replace(first_variant(capabilities), opening_rule=opening_rule)


def rule_variants(capabilities: Capabilities, rule: Rule) -> Sequence[Variant]:
    """The usual, the shortest and the longest board under one rule, and one that is no square."""
    first = replace(first_variant(capabilities), rule=rule)
    low, high = _sides(capabilities)
    sizes = [(first.width, first.height), (low, low), (high, high)]
    if low < high:
        other = first.height - 2 if first.height - 2 >= low else min(first.height + 2, high)
        sizes.append((first.width, other if other != first.width else low))
    return [replace(first, width=width, height=height) for width, height in dict.fromkeys(sizes)]


def _usual_side(capabilities: Capabilities) -> int:
    low, high = _sides(capabilities)
    return min(max(USUAL_SIZE, low), high)


def _sides(capabilities: Capabilities) -> tuple[int, int]:
    """The shortest and the longest side on which five stones in a row are played."""
    low = max(capabilities.min_size, MIN_GOMOKU_SIDE)
    return low, max(capabilities.max_size, low)
