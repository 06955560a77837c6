"""Evidence: what finished games say of the bot that was examined."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from meijin.cli.doctor.check import CheckFailedError
from meijin.game import Color, Ending, Outcome, Party
from meijin.v1 import game_pb2
from meijin.wire import outcome_from_proto, variant_from_proto

FIXES: Mapping[Ending, str] = MappingProxyType(
    {
        Ending.TIME: "answer within the clock that the turn tells of (own_clock_ms; in Python "
        "position.time_left), less some 0.1 s for the way, or claim a higher min_move_time",
        Ending.ILLEGAL: "play an empty cell of the board that the turn tells of: row * width + "
        "column, row 0 on top, and the width is not always 15",
        Ending.FORBIDDEN: "ask the rule before you play (in Python position.legal_cells()): black "
        "may not make double-threes, double-fours and overlines in renju",
        Ending.CRASH: "mend the error that it tells of",
        Ending.DISCONNECT: "keep the stream open as long as games run; when it is lost, open "
        "another one at once and say hello with resume_session_id",
    }
)
"""What to do about each way to forfeit a game."""


def check_games(games: Sequence[game_pb2.Game], bot: str, output: Sequence[str]) -> None:
    """See that the bot has forfeited none of these games.

    Raises:
        CheckFailedError: it has, or its supplier has failed.
    """
    for game in games:
        outcome = outcome_from_proto(game.outcome)
        if outcome.at_fault is Party.SUPPLIER:
            fix = "see that what the bot depends on can be reached from here"
            raise CheckFailedError(f"its supplier failed: {outcome.detail}", fix, output)
        if outcome.at_fault is Party.of(color_of(game, bot)):
            evidence = output if outcome.ending in _TOLD_BY_BOT else ()
            raise CheckFailedError(_loss(game, outcome, bot), _fix(game, outcome), evidence)


def _loss(game: game_pb2.Game, outcome: Outcome, bot: str) -> str:
    variant = variant_from_proto(game.variant)
    words = f"it lost as {color_of(game, bot).name.lower()} at ply {game.ply} of {variant}"
    detail = f": {outcome.detail}" if outcome.detail else ""
    return f"{words} by {CAUSES.get(outcome.ending, outcome.ending.value)}{detail}"


CAUSES: Mapping[Ending, str] = MappingProxyType(
    {
        Ending.TIME: "time",
        Ending.ILLEGAL: "an illegal move",
        Ending.FORBIDDEN: "a forbidden move",
        Ending.CRASH: "a failure of its own",
        Ending.DISCONNECT: "being away",
    }
)
"""What each way to forfeit is called."""


def _fix(game: game_pb2.Game, outcome: Outcome) -> str:
    variant = variant_from_proto(game.variant)
    fix = FIXES.get(outcome.ending, "see what the server says of the game")
    return f"{fix}; or claim no {variant} games" if outcome.ending in _OF_CLAIMS else fix


_OF_CLAIMS = frozenset({Ending.ILLEGAL, Ending.FORBIDDEN, Ending.CRASH})
"""A bot that claims what it can't play ends in these ways."""

_TOLD_BY_BOT = frozenset({Ending.CRASH, Ending.DISCONNECT})
"""Of these the bot itself may say more than the server knows."""


def color_of(game: game_pb2.Game, bot: str) -> Color:
    """The side that the bot played in the end."""
    return Color.BLACK if game.black == bot else Color.WHITE


def chooser(game: game_pb2.Game) -> str:
    """Who has chosen a side; empty where nobody has."""
    if not game.HasField("choice"):
        return ""
    return game.black if game.choice.color == game_pb2.COLOR_BLACK else game.white


def move_times(games: Sequence[game_pb2.Game], bot: str) -> list[float]:
    """The seconds that the bot took for each of its moves, as the server measured them."""
    return [
        move.raw_time.ToTimedelta().total_seconds()
        for game in games
        for ply, move in enumerate(game.moves)
        if ply >= game.opening_plies and ply % 2 == (color_of(game, bot) is Color.WHITE)
    ]
