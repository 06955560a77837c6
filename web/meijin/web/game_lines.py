"""Games as lines of a list, with what became of them in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from meijin.v1 import game_pb2
from meijin.web.labels import ending_label, result_label


@dataclass(frozen=True, slots=True)
class GameLine:
    """One game of a list."""

    game: game_pb2.Game
    result: str
    ending: str
    """What ended it; empty while it runs."""


def game_lines(games: Iterable[game_pb2.Game]) -> tuple[GameLine, ...]:
    """Games in their order."""
    return tuple(
        GameLine(game, result_label(game), ending_label(game.outcome.ending))
        if game.HasField("outcome")
        else GameLine(game, result_label(game), "")
        for game in games
    )
