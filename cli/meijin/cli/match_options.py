"""Options of `meijin match` that tournaments of more bots don't have."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.errors import CommandError
from meijin.cli.options import MAX_UINT32
from meijin.game import TimeControl
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_to_proto

DEFAULT_MAX_FAULTS = 3
DEFAULT_WAIT = 30.0
MAX_SCORE = 1_000_000_000

FirstArgument = Annotated[
    str, typer.Argument(help="A bot on the server; with --local a bot to run.")
]
SecondArgument = Annotated[str, typer.Argument(help="The other one.")]
FirstOptionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--first-option",
        metavar="NAME=VALUE",
        help="With --local, an option of the first bot, as alphabeta:NAME=VALUE has; repeatable.",
    ),
]
SecondOptionOption = Annotated[
    list[str] | None,
    typer.Option("--second-option", metavar="NAME=VALUE", help="The same of the second bot."),
]
FirstTimeOption = Annotated[
    str | None,
    typer.Option("--first-time", help="The first bot's clock, where it is not that of --time."),
]
SecondTimeOption = Annotated[
    str | None, typer.Option("--second-time", help="The second bot's clock.")
]
ResignOption = Annotated[
    str | None,
    typer.Option(
        "--resign",
        metavar="SCORE,MOVES",
        help="A side loses when both sides have said for so many moves that it is lost by SCORE.",
    ),
]
DrawOption = Annotated[
    str | None,
    typer.Option(
        "--draw",
        metavar="SCORE,MOVES[,PLY]",
        help="A game is drawn when both have said for so many moves, from PLY on, that the score "
        "is within SCORE.",
    ),
]
MaxFaultsOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=1_000_000,
        help="Stop when a bot has forfeited so many games by its own faults; 0 for never.",
    ),
]
RestartOption = Annotated[
    int,
    typer.Option(
        "--restart",
        min=0,
        max=1000,
        help="With --local, how often a bot whose process ends is started again.",
    ),
]
WaitOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Seconds in which the bots have to connect: 30 when left out; with --local 300, "
        "not counting those in which they compile.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the result alone: no games, no live line.")
]
RatingIntervalOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=MAX_UINT32,
        help="Say after every so many games where the match stands; 0 for never. A tenth of the "
        "games when left out, from 20 on; with --sprt 100.",
    ),
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log",
        help="With --local, a file to write down what the bots are asked and what they answer.",
    ),
]
GamesToOption = Annotated[
    Path | None,
    typer.Option(
        "--games-to",
        metavar="FILE",
        help="Write every game as it ends, a JSON object in a line; - for standard output.",
    ),
]


def adjudication(resign: str | None, draw: str | None) -> pb.Adjudication | None:
    """When games are ended by the scores that both sides agree about; ``None`` for never.

    Raises:
        CommandError: an option is not such as ``500,3``.
    """
    if resign is None and draw is None:
        return None
    message = pb.Adjudication()
    if resign is not None:
        score, moves = _numbers("--resign", resign, 2, example="500,3")
        message.resign.CopyFrom(pb.ResignRule(score=score, moves=moves))
    if draw is not None:
        score, moves, *ply = _numbers("--draw", draw, 3, example="20,8 or 20,8,60", least=2)
        message.draw.CopyFrom(pb.DrawRule(score=score, moves=moves, from_ply=sum(ply)))
    return message


def _numbers(option: str, text: str, most: int, *, example: str, least: int = 2) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not least <= len(numbers) <= most or any(number < 0 for number in numbers):
        raise CommandError(f'{option} takes numbers such as {example}, not "{text}"')
    if max(numbers) > MAX_SCORE:
        raise CommandError(f'{option} "{text}" is out of range: at most {MAX_SCORE}')
    return numbers


def set_clocks(
    wanted: pb.TournamentSettings, time: str, first: str | None, second: str | None
) -> None:
    """Give each side its own clock, where one of them has another than the match's.

    Raises:
        CommandError: a clock is none.
    """
    if first is None and second is None:
        return
    try:
        controls = [TimeControl.parse(own or time) for own in (first, second)]
    except ValueError as error:
        raise CommandError(str(error)) from None
    wanted.time_controls.extend(map(time_control_to_proto, controls))
