"""Labels: values of the contract in a few characters, as tables have them."""

from collections.abc import Callable
from typing import TypeVar

from meijin.v1 import game_pb2, play_service_pb2
from meijin.web.wording import text
from meijin.wire import (
    capabilities_from_proto,
    ending_from_proto,
    time_control_from_proto,
    variant_from_proto,
)

M = TypeVar("M")

RESULTS = {
    game_pb2.COLOR_BLACK: "black_wins",
    game_pb2.COLOR_WHITE: "white_wins",
    game_pb2.COLOR_UNSPECIFIED: "drawn",
}
"""Of finished games, by their winners."""


def variant_label(variant: game_pb2.Variant) -> str:
    """What is played, such as ``renju 15x15``."""
    return _known(lambda message: str(variant_from_proto(message)), variant)


def time_control_label(control: game_pb2.TimeControl) -> str:
    """The clocks, such as ``60+0.5``."""
    return _known(lambda message: str(time_control_from_proto(message)), control)


def ending_label(ending: game_pb2.Ending.ValueType) -> str:
    """What ended a game."""
    return _known(lambda value: text(f"labels.ending.{ending_from_proto(value).value}"), ending)


def result_label(game: game_pb2.Game) -> str:
    """Black's points and white's, or why there are none."""
    if game.state == game_pb2.GAME_STATE_FINISHED:
        return text(f"labels.{RESULTS.get(game.outcome.winner, 'unknown')}")
    is_running = game.state == game_pb2.GAME_STATE_RUNNING
    return text("labels.running" if is_running else "labels.void")


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


def _known(label: Callable[[M], str], value: M) -> str:
    """A value's label; of what a later release has added, that it is unknown."""
    try:
        return label(value)
    except ValueError:
        return text("labels.unknown")
