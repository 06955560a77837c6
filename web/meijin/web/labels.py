"""Labels: values of the contract in a few characters, as tables have them."""

import json
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from meijin.game import Outcome
from meijin.v1 import game_pb2, play_service_pb2
from meijin.web.wording import text, wording
from meijin.wire.capabilities import capabilities_from_proto
from meijin.wire.enums import WireEnum, name_prefix, word_of
from meijin.wire.json import struct_object
from meijin.wire.values import (
    ending_from_proto,
    outcome_from_proto,
    time_control_from_proto,
    variant_from_proto,
)

M = TypeVar("M")
V = TypeVar("V", bound=int)

MAX_TEXT = 2000
"""Characters of one value of the evidence; bots have a say in some of them."""

_MICROSECONDS = "_us"

RESULTS = {
    game_pb2.COLOR_BLACK: "black_wins",
    game_pb2.COLOR_WHITE: "white_wins",
    game_pb2.COLOR_UNSPECIFIED: "drawn",
}
"""Of finished games, by their winners."""


def by_word(mirror: WireEnum[V]) -> dict[str, V]:
    """The values of an enum that say something, by their words, such as ``running``."""
    return {word_of(mirror, value).replace(" ", "_"): value for value in mirror.values()[1:]}


def words(message: Message, field: str) -> list[str]:
    """The values of an enum, as its name in the contract has them, such as ``running``.

    What a later release has added is left out.
    """
    kind = cast("EnumDescriptor", message.DESCRIPTOR.fields_by_name[field].enum_type)
    found = getattr(message, field)
    values = [found] if isinstance(found, int) else found
    names = (kind.values_by_number[each].name for each in values if each in kind.values_by_number)
    return [name.removeprefix(name_prefix(kind)).lower() for name in names]


def word(message: Message, field: str) -> str:
    """The same of one value; empty where nothing is said."""
    return "".join(words(message, field)).replace("unspecified", "")


def label(message: Message, beginning: str, field: str) -> str:
    """The text of an enum's value, whose key has a beginning and the value's word."""
    key = beginning + "".join(words(message, field))
    return text(key if key in wording() else "labels.unknown")


def variant_label(variant: game_pb2.Variant) -> str:
    """What is played, such as ``renju 15x15``."""
    return _known(lambda message: str(variant_from_proto(message)), variant)


def time_control_label(control: game_pb2.TimeControl) -> str:
    return _known(lambda message: str(time_control_from_proto(message)), control)


def ending_label(ending: game_pb2.Ending.ValueType) -> str:
    return _known(lambda value: text(f"labels.ending.{ending_from_proto(value).value}"), ending)


def result_label(game: game_pb2.Game) -> str:
    """Black's points and white's, or why there are none."""
    if game.state == game_pb2.GAME_STATE_FINISHED:
        return text(f"labels.{RESULTS.get(game.outcome.winner, 'unknown')}")
    is_running = game.state == game_pb2.GAME_STATE_RUNNING
    return text("labels.running" if is_running else "labels.void")


def outcome_of(game: game_pb2.Game) -> Outcome | None:
    """How a game ended; ``None`` while it runs."""
    return outcome_from_proto(game.outcome) if game.HasField("outcome") else None


def capability_labels(message: play_service_pb2.Capabilities) -> tuple[str, ...]:
    """What a bot can play, a sentence each."""
    try:
        found = capabilities_from_proto(message)
    except ValueError:
        return (text("labels.unknown"),)
    sizes = dict.fromkeys((found.min_size, found.max_size))
    labels = [
        text("labels.rules", rules=", ".join(rule.name for rule in found.rules)),
        text("labels.openings", openings=", ".join(each.name for each in found.opening_rules)),
        text("labels.boards", sizes=text("labels.to").join(map(str, sizes))),
        text("labels.games_at_once", games=found.max_games),
    ]
    if found.min_move_time:
        seconds = f"{found.min_move_time.total_seconds():g}"
        labels.append(text("labels.least_time", seconds=seconds))
    if found.any_line:
        labels.append(text("labels.any_line"))
    if found.evaluates:
        labels.append(text("labels.evaluates"))
    return tuple(labels)


def evidence(struct: Struct) -> Iterator[tuple[str, str]]:
    """All that is known of a fault, in the order of the names: no units, and times in seconds."""
    found = struct_object(struct)
    for name in sorted(found):
        yield name.removesuffix(_MICROSECONDS).replace("_", " "), _evidence_text(name, found[name])


def _evidence_text(key: str, value: object) -> str:
    if key.endswith(_MICROSECONDS):
        values = value if isinstance(value, list) else [value]
        return ", ".join(map(_seconds, values))[:MAX_TEXT]
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told[:MAX_TEXT]


def _seconds(value: object) -> str:
    if not isinstance(value, float | int) or isinstance(value, bool):
        return json.dumps(value)
    return f"{value / 1e6:.6f}".rstrip("0").rstrip(".") + " s"


def _known(told: Callable[[M], str], value: M) -> str:
    """A value's label; of what a later release has added, that it is unknown."""
    try:
        return told(value)
    except ValueError:
        return text("labels.unknown")
