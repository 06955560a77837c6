"""Terms: what is to be played, as a form asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from meijin.game import (
    OPENING_RULES,
    RULES,
    TimeControl,
    Variant,
    encode_moves,
    opening_rule_named,
    parse_opening,
)
from meijin.v1 import game_pb2
from meijin.web.refusals import bad_request
from meijin.wire import time_control_to_proto, variant_to_proto

MAX_FIELD = 2000
"""Characters of a field: an opening of a full board has 1,500."""

MAX_NAMES = 45_000
"""Characters of the names of all bots of a tournament."""

USUAL = {
    "rule": "freestyle",
    "size": "15",
    "opening_rule": "free",
    "time": "60+0.5",
    "opponent_time": "",
    "games": "2",
    "rounds": "2",
    "colors": "alternate",
    "start": "server",
    "moves": "",
}
"""What a form says where nobody has filled it in."""

SIZES = tuple(range(3, 23))


@dataclass(frozen=True, slots=True)
class TermsView:
    """The fields about what is played, as they are shown."""

    values: Mapping[str, str]
    rules: tuple[str, ...] = tuple(RULES)
    opening_rules: tuple[str, ...] = tuple(OPENING_RULES)
    sizes: tuple[int, ...] = SIZES


def fields_of(form: Mapping[str, object]) -> dict[str, str]:
    """What a form has sent, without what is longer than any field of ours.

    Raises:
        Refusal: a field is.
    """
    fields = {name: str(value).strip() for name, value in form.items()}
    for name, value in fields.items():
        most = MAX_NAMES if name == "bots" else MAX_FIELD
        if len(value) > most:
            raise bad_request(f"{name[:40]} has more than {most} characters")
    return fields


def board_of(fields: Mapping[str, str]) -> Variant:
    """What is to be played.

    Raises:
        ValueError: there is no such rule, or no such board.
    """
    rule, size = fields.get("rule", USUAL["rule"]), whole(fields, "size", most=SIZES[-1])
    if rule not in RULES:
        raise ValueError(f'no rule "{rule}"; the rules are {", ".join(RULES)}')
    opening_rule = opening_rule_named(fields.get("opening_rule", USUAL["opening_rule"]))
    return Variant(rule=RULES[rule], width=size, height=size, opening_rule=opening_rule)


def variant_of(fields: Mapping[str, str]) -> game_pb2.Variant:
    """What is to be played, as a message.

    Raises:
        ValueError: see `board_of`.
    """
    return variant_to_proto(board_of(fields))


def clock_of(fields: Mapping[str, str], name: str = "time") -> game_pb2.TimeControl:
    """A time control.

    Raises:
        ValueError: the field is none.
    """
    return time_control_to_proto(TimeControl.parse(fields.get(name) or USUAL["time"]))


def opening_of(fields: Mapping[str, str]) -> bytes:
    """The position to start from, as a form names its moves.

    Raises:
        ValueError: a cell is unreadable or off the board.
    """
    return encode_moves(parse_opening(fields.get("moves", ""), board_of(fields)))


def whole(fields: Mapping[str, str], name: str, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number.

    Raises:
        ValueError: the field is none, or out of its range.
    """
    value = fields.get(name) or USUAL.get(name, "0")
    if not (value.isascii() and value.isdecimal() and least <= int(value[:12]) <= most):
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return int(value)
