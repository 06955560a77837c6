"""Colours, rules, variants, time controls, outcomes and analyses, in both directions.

Reading raises ValueError for what can't be, and for what a later release has added.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.game import (
    FREE,
    FREESTYLE,
    GOMOKU,
    OPENING_RULES,
    RULES,
    Analysis,
    Color,
    Ending,
    OpeningRule,
    Outcome,
    Party,
    Rule,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.v1 import game_pb2, play_service_pb2
from meijin.wire.enums import enum_table

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_RULE_VALUES = {
    name: game_pb2.Rule.Value(f"RULE_{name.upper().replace('-', '_')}") for name in RULES
}
RULES_BY_VALUE: dict[game_pb2.Rule.ValueType, Rule] = {
    game_pb2.RULE_UNSPECIFIED: FREESTYLE,
    **{value: RULES[name] for name, value in _RULE_VALUES.items()},
}
_OPENING_RULE_VALUES = {
    rule: game_pb2.OpeningRule.Value(f"OPENING_RULE_{name.upper()}")
    for name, rule in OPENING_RULES.items()
}
OPENING_RULES_BY_VALUE = {value: rule for rule, value in _OPENING_RULE_VALUES.items()}
_ABSENT = game_pb2.OPENING_RULE_UNSPECIFIED
OPENING_RULES_BY_VALUE[_ABSENT] = FREE
_COLOR_VALUES = enum_table(Color, game_pb2.Color)
_COLORS = {value: color for color, value in _COLOR_VALUES.items()}
_ENDING_VALUES = enum_table(Ending, game_pb2.Ending)
_ENDINGS = {value: ending for ending, value in _ENDING_VALUES.items()}
_PARTY_VALUES = enum_table(Party, game_pb2.Party, absent=Party.NOBODY)
_PARTIES = {value: party for party, value in _PARTY_VALUES.items()}


def color_to_proto(color: Color) -> game_pb2.Color.ValueType:
    return _COLOR_VALUES[color]


def color_from_proto(value: game_pb2.Color.ValueType) -> Color:
    return _known(_COLORS, value, "color")


def rule_to_proto(rule: Rule) -> game_pb2.Rule.ValueType:
    return _known(_RULE_VALUES, rule.name, "rule")


def rule_from_proto(value: game_pb2.Rule.ValueType) -> Rule:
    """Read a rule; absent means freestyle."""
    return _known(RULES_BY_VALUE, value, "rule")


def opening_rule_to_proto(rule: OpeningRule) -> game_pb2.OpeningRule.ValueType:
    return _known(_OPENING_RULE_VALUES, rule, "opening rule")


def opening_rule_from_proto(value: game_pb2.OpeningRule.ValueType) -> OpeningRule:
    """Read an opening rule; absent means free."""
    return _known(OPENING_RULES_BY_VALUE, value, "opening rule")


def variant_to_proto(variant: Variant) -> game_pb2.Variant:
    rule = variant.opening_rule
    return game_pb2.Variant(
        rule=rule_to_proto(variant.rule),
        width=variant.width,
        height=variant.height,
        line=variant.line,
        opening_rule=_ABSENT if rule == FREE else opening_rule_to_proto(rule),
        draw_at=variant.draw_at or 0,
    )


def variant_from_proto(message: game_pb2.Variant) -> Variant:
    """Read a variant; what is absent is as in Gomoku."""
    return Variant(
        rule=rule_from_proto(message.rule),
        width=message.width or GOMOKU.width,
        height=message.height or GOMOKU.height,
        line=message.line or GOMOKU.line,
        opening_rule=opening_rule_from_proto(message.opening_rule),
        draw_at=message.draw_at or None,
    )


def time_control_to_proto(control: TimeControl) -> game_pb2.TimeControl:
    message = game_pb2.TimeControl()
    if control.initial is not None:
        message.initial.FromTimedelta(control.initial)
        message.increment.FromTimedelta(control.increment)
    if control.per_move is not None:
        message.per_move.FromTimedelta(control.per_move)
    message.cpu = control.cpu
    return message


def time_control_from_proto(message: game_pb2.TimeControl) -> TimeControl:
    """Read a time control; a duration of zero is one that is absent."""
    try:
        return TimeControl(
            initial=message.initial.ToTimedelta() or None,
            increment=message.increment.ToTimedelta() or timedelta(0),
            per_move=message.per_move.ToTimedelta() or None,
            cpu=message.cpu,
        )
    except OverflowError as error:
        raise ValueError(f"no time control lasts as long: {error}") from None


def ending_from_proto(value: game_pb2.Ending.ValueType) -> Ending:
    return _known(_ENDINGS, value, "ending")


def outcome_to_proto(outcome: Outcome) -> game_pb2.Outcome:
    winner = outcome.winner
    return game_pb2.Outcome(
        winner=game_pb2.COLOR_UNSPECIFIED if winner is None else _COLOR_VALUES[winner],
        ending=_ENDING_VALUES[outcome.ending],
        at_fault=_PARTY_VALUES[outcome.at_fault],
        detail=outcome.detail,
    )


def outcome_from_proto(message: game_pb2.Outcome) -> Outcome:
    ending = ending_from_proto(message.ending)
    winner = _COLORS.get(message.winner)
    at_fault = _known(_PARTIES, message.at_fault, "party")
    return Outcome(ending=ending, winner=winner, at_fault=at_fault, detail=message.detail)


def analysis_to_proto(analysis: Analysis) -> game_pb2.MoveAnalysis:
    return game_pb2.MoveAnalysis(
        score=analysis.score,
        depth=analysis.depth,
        nodes=analysis.nodes,
        pv=encode_moves(analysis.pv),
    )


def analysis_from_proto(message: game_pb2.MoveAnalysis) -> Analysis:
    return Analysis(*told_numbers(message), tuple(decode_moves(message.pv)))


def told_numbers(
    message: game_pb2.MoveAnalysis | play_service_pb2.Analysis,
) -> tuple[int | None, int | None, int | None]:
    """The score, the depth and the nodes that a search has told; ``None`` for what it hasn't."""
    return (
        message.score if message.HasField("score") else None,
        message.depth if message.HasField("depth") else None,
        message.nodes if message.HasField("nodes") else None,
    )


def time_to_proto(time: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(time.astimezone(UTC))
    return message


def _known(table: Mapping[_Key, _Value], key: _Key, noun: str) -> _Value:
    if key not in table:
        raise ValueError(f"this release of meijin knows no {noun} {key}; install a newer one")
    return table[key]
