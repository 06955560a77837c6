"""What a bot is tried at, by what it claims, and what it claims in words."""

from collections.abc import Sequence
from dataclasses import replace

from meijin.game import FREE, FREESTYLE, Rule, TimeControl, Variant
from meijin.game.rules.variant import MAX_SIDE, MIN_GOMOKU_SIDE
from meijin.wire.capabilities import USUAL_SIZE, Capabilities, move_time

USUAL_CONTROL = TimeControl.parse("2+0.1")
"""Games are short, and leave room for a machine that is busy otherwise."""
FAST_CONTROL = TimeControl.parse("1+0.05")
"""For the check of how the bot keeps to a clock."""
LONG_CONTROL = TimeControl.parse("60+1")
"""For a game in which streams are cut: nobody is to lose it on time."""


def control_for(
    claims: Capabilities, usual: TimeControl = USUAL_CONTROL, spare: int = 2
) -> TimeControl:
    """A clock, or `spare` times what the bot says a move needs where that is more."""
    if move_time(usual) >= claims.min_move_time:
        return usual
    return TimeControl(initial=None, per_move=spare * claims.min_move_time)


def _sides(claims: Capabilities) -> tuple[int, int]:
    """The shortest and the longest side on which five stones in a row are played."""
    low = max(claims.min_size, MIN_GOMOKU_SIDE)
    return low, max(min(claims.max_size, MAX_SIDE), low)


def first_variant(claims: Capabilities) -> Variant:
    """The most usual of what the bot claims.

    Raises:
        ValueError: it claims nothing that is played here.
    """
    if claims.max_size < MIN_GOMOKU_SIDE:
        raise ValueError(f"it claims no board of {MIN_GOMOKU_SIDE} or more")
    low, high = _sides(claims)
    side = min(max(USUAL_SIZE, low), high)
    rule = FREESTYLE if FREESTYLE in claims.rules else claims.rules[0]
    openings = claims.opening_rules
    opening_rule = FREE if FREE in openings else openings[0]
    return Variant(rule=rule, width=side, height=side, opening_rule=opening_rule)


def rule_variants(claims: Capabilities, rule: Rule) -> Sequence[Variant]:
    """The usual, the shortest and the longest board under one rule, and one that is no square."""
    first = replace(first_variant(claims), rule=rule)
    low, high = _sides(claims)
    sizes = [(first.width, first.height), (low, low), (high, high)]
    if low < high:
        other = first.height - 2 if first.height - 2 >= low else min(first.height + 2, high)
        sizes.append((first.width, other if other != first.width else low))
    return [replace(first, width=width, height=height) for width, height in dict.fromkeys(sizes)]


def claims_text(claims: Capabilities) -> str:
    """Rules, opening rules and sizes, such as ``freestyle, swap2 on 10 to 20``."""
    rules = ", ".join(rule.name for rule in claims.rules)
    openings = ", ".join(each.name for each in claims.opening_rules if each != FREE)
    size = f"{claims.min_size} to {claims.max_size}"
    sizes = f"{claims.min_size}" if claims.min_size == claims.max_size else size
    return f"{rules}{f', {openings}' if openings else ''} on {sizes}"
