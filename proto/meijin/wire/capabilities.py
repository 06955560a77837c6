"""Capabilities: what a bot can play, as it said in its hello."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from meijin.game import FREE, FREESTYLE, OpeningRule, Rule, TimeControl, Variant
from meijin.game.rules.variant import GOMOKU_LINE
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.values import (
    OPENING_RULES_BY_VALUE,
    RULES_BY_VALUE,
    opening_rule_to_proto,
    rule_to_proto,
)

V = TypeVar("V")
R = TypeVar("R")

USUAL_SIZE = 15

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a bot can play; the server never pairs it outside of this."""

    rules: tuple[Rule, ...] = (FREESTYLE,)
    min_size: int = USUAL_SIZE
    """The shortest side of a board."""
    max_size: int = USUAL_SIZE
    """The longest side of a board."""
    max_games: int = 1
    """Games at once."""
    min_move_time: timedelta = timedelta(0)
    """The least time that a move needs."""
    any_line: bool = False
    """Any number of stones in a row, not only five."""
    opening_rules: tuple[OpeningRule, ...] = (FREE,)
    evaluates: bool = False
    """Positions outside of games too, when somebody asks."""
    announces_readiness: bool = False
    """The place of a game that ended takes another one when the bot says so."""
    is_hosted: bool = False
    """A host runs it, and measures its processor time; no bot says so itself."""

    def as_hosted(self) -> "Capabilities":
        """The same of a program that a host runs: one game at a time, and nothing besides."""
        return replace(self, max_games=1, evaluates=False, is_hosted=True)

    def objection(self, variant: Variant, time_control: TimeControl) -> str | None:
        """Why the bot can't play this, or ``None`` when it can."""
        if variant.rule not in self.rules:
            return f"does not play {variant.rule.name}"
        if variant.opening_rule not in self.opening_rules:
            return f"does not play {variant.opening_rule.name} openings"
        return self._board_objection(variant) or self._time_objection(time_control)

    def _board_objection(self, variant: Variant) -> str | None:
        if min(variant.width, variant.height) < self.min_size:
            return f"needs boards of at least {self.min_size}x{self.min_size}"
        if max(variant.width, variant.height) > self.max_size:
            return f"needs boards of at most {self.max_size}x{self.max_size}"
        if variant.line != GOMOKU_LINE and not self.any_line:
            return "plays five in a row only"
        return None

    def _time_objection(self, time_control: TimeControl) -> str | None:
        if move_time(time_control) < self.min_move_time:
            return f"needs {self.min_move_time.total_seconds():g} s a move"
        if time_control.cpu and not self.is_hosted:
            return "is not hosted, so that nobody can measure its processor time"
        return None


def move_time(time_control: TimeControl) -> timedelta:
    """What a time control gives for one move of a long game, about forty moves a side."""
    limits = []
    if time_control.initial is not None:
        limits.append(time_control.initial / 40 + time_control.increment)
    if time_control.per_move is not None:
        limits.append(time_control.per_move)
    return min(limits)


def capabilities_to_proto(capabilities: Capabilities) -> pb.Capabilities:
    """Write what a bot can play; a part of a millisecond counts as a whole one.

    Raises:
        ValueError: the wire has no value for one of the rules.
    """
    return pb.Capabilities(
        rules=[rule_to_proto(rule) for rule in capabilities.rules],
        min_board_size=capabilities.min_size,
        max_board_size=capabilities.max_size,
        max_games=capabilities.max_games,
        min_move_time_ms=-(-capabilities.min_move_time // _MILLISECOND),
        any_line=capabilities.any_line,
        opening_rules=map(opening_rule_to_proto, capabilities.opening_rules),
        evaluates=capabilities.evaluates,
        announces_readiness=capabilities.announces_readiness,
    )


def capabilities_from_proto(message: pb.Capabilities) -> Capabilities:
    """Read what a bot can play; absent fields are filled in, unknown rules left out.

    Raises:
        ValueError: the sizes contradict each other.
    """
    rules = _known(message.rules, RULES_BY_VALUE)
    capabilities = Capabilities(
        rules=rules if message.rules else (FREESTYLE,),
        min_size=message.min_board_size or USUAL_SIZE,
        max_size=message.max_board_size or max(USUAL_SIZE, message.min_board_size),
        max_games=message.max_games or 1,
        min_move_time=message.min_move_time_ms * _MILLISECOND,
        any_line=message.any_line,
        # Games without an opening rule are played by all who name none.
        opening_rules=_known(message.opening_rules, OPENING_RULES_BY_VALUE) or (FREE,),
        evaluates=message.evaluates,
        announces_readiness=message.announces_readiness,
    )
    if capabilities.min_size > capabilities.max_size:
        raise ValueError(
            f"min_board_size {capabilities.min_size} is above "
            f"max_board_size {capabilities.max_size}"
        )
    return capabilities


def _known(values: Iterable[V], rules: Mapping[V, R]) -> tuple[R, ...]:
    """The rules of those values that are known, each value once."""
    return tuple(rules[value] for value in dict.fromkeys(values) if value in rules)
