"""Evidence: what finished games say of the bot that was examined."""

from collections.abc import Sequence
from statistics import median

from meijin.game import Choose, Color, Ending, Outcome, Party
from meijin.game.records.recorded_turn import opening_actions, player_of
from meijin.local.doctor.check import CheckFailedError
from meijin.v1 import game_pb2
from meijin.wire.records import record_from_proto
from meijin.wire.values import outcome_from_proto, variant_from_proto

FORFEITS = {
    Ending.TIME: (
        "time",
        (
            "answer within the clock that the turn tells of (own_clock_ms; in Python "
            "position.time_left), less some 0.1 s for the way, or claim a higher min_move_time"
        ),
    ),
    Ending.ILLEGAL: (
        "an illegal move",
        (
            "play an empty cell of the board that the turn tells of: row * width + column, row 0 "
            "on top, and the width is not always 15"
        ),
    ),
    Ending.FORBIDDEN: (
        "a forbidden move",
        (
            "ask the rule before you play (in Python position.legal_cells()): black may not make "
            "double-threes, double-fours and overlines in renju"
        ),
    ),
    Ending.CRASH: ("a failure of its own", "mend the error that it tells of"),
    Ending.DISCONNECT: (
        "being away",
        (
            "keep the stream open as long as games run; when it is lost, open another one at once "
            "and say hello with resume_session_id"
        ),
    ),
}
"""Each way to forfeit a game: what it is called, and what to do about it."""

ENGINE_FIXES = {
    Ending.TIME: "answer within INFO timeout_turn and time_left",
    Ending.ILLEGAL: 'answer "x,y" of an empty point, column and row from 0, row 0 on top',
    Ending.FORBIDDEN: "heed INFO rule",
    Ending.CRASH: "mend what the last lines show",
}
"""The same for an engine's author."""

OF_CLAIMS = frozenset({Ending.ILLEGAL, Ending.FORBIDDEN, Ending.CRASH})
"""A bot that claims what it can't play ends in these ways."""

TOLD_BY_BOT = frozenset({Ending.CRASH, Ending.DISCONNECT})
"""Of these the bot itself may say more than the server knows."""


def check_games(
    games: Sequence[game_pb2.Game], bot: str, output: Sequence[str], *, is_engine: bool = False
) -> None:
    for game in games:
        outcome = outcome_from_proto(game.outcome)
        if outcome.at_fault is Party.SUPPLIER:
            fix = "see that what the bot depends on can be reached from here"
            raise CheckFailedError(f"its supplier failed: {outcome.detail}", fix, output)
        if outcome.at_fault is Party.of(color_of(game, bot)):
            evidence = output if is_engine or outcome.ending in TOLD_BY_BOT else ()
            raise _loss(game, outcome, bot, evidence, is_engine=is_engine)


def _loss(
    game: game_pb2.Game, outcome: Outcome, bot: str, evidence: Sequence[str], *, is_engine: bool
) -> CheckFailedError:
    variant, ending = variant_from_proto(game.variant), outcome.ending
    usual = (ending.value, "see what the server says of the game")
    cause, fix = FORFEITS.get(ending, usual)
    if is_engine:
        fix = ENGINE_FIXES.get(ending, fix)
    words = f"it lost as {color_of(game, bot).name.lower()} at ply {game.ply} of {variant}"
    detail = f": {outcome.detail}" if outcome.detail else ""
    other = f"; or claim no {variant} games" if ending in OF_CLAIMS else ""
    return CheckFailedError(f"{words} by {cause}{detail}", f"{fix}{other}", evidence)


def color_of(game: game_pb2.Game, bot: str) -> Color:
    """The side that the bot played in the end."""
    return Color.BLACK if game.black == bot else Color.WHITE


def choosers(game: game_pb2.Game) -> list[str]:
    """Who has chosen a side, once for each time."""
    record = record_from_proto(game)
    return [
        player_of(record, position.seat_to_act)
        for position, action in opening_actions(record)
        if isinstance(action, Choose)
    ]


def move_times(games: Sequence[game_pb2.Game], bot: str) -> list[float]:
    """The seconds that the bot took for each of its moves, as the server measured them."""
    return [
        move.raw_time.ToTimedelta().total_seconds()
        for game in games
        for ply, move in enumerate(game.moves)
        if ply >= game.opening_plies and ply % 2 == (color_of(game, bot) is Color.WHITE)
    ]


def times_text(times: Sequence[float]) -> str:
    """How many moves were timed, and how long they took."""
    if not times:
        return "no move of its own"
    return f"{len(times)} moves, the median {median(times):.3f} s, the slowest {max(times):.3f} s"
