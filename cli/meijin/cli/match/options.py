"""What `meijin match` is asked for with, besides what tournaments of more bots have."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import option
from meijin.cli.errors import CommandError
from meijin.cli.options import control_proto
from meijin.v1 import tournament_service_pb2 as pb

MAX_SCORE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Clocks:
    """Of each side."""

    first_time: Annotated[str | None, "The first bot's clock, where it is not that of --time."] = (
        None
    )
    second_time: Annotated[str | None, "The second bot's clock."] = None

    def set(self, wanted: pb.TournamentSettings, time: str) -> None:
        own = (self.first_time, self.second_time)
        if any(each is not None for each in own):
            wanted.time_controls.extend(control_proto(each or time) for each in own)


@dataclass(frozen=True, slots=True)
class Rules:
    """When games are ended by the scores that both sides agree about."""

    resign: Annotated[
        str | None,
        option(
            "A side loses when both sides have said for so many moves that it is lost by SCORE.",
            metavar="SCORE,MOVES",
        ),
    ] = None
    draw: Annotated[
        str | None,
        option(
            "A game is drawn when both have said for so many moves, from PLY on, that the "
            "score is within SCORE.",
            metavar="SCORE,MOVES[,PLY]",
        ),
    ] = None

    def set(self, wanted: pb.TournamentSettings) -> None:
        """Have games ended so."""
        if self.resign is not None:
            score, moves = _numbers("--resign", self.resign, 2, example="500,3")
            wanted.adjudication.resign.CopyFrom(pb.ResignRule(score=score, moves=moves))
        if self.draw is not None:
            score, moves, *ply = _numbers("--draw", self.draw, 3, example="20,8 or 20,8,60")
            wanted.adjudication.draw.CopyFrom(
                pb.DrawRule(score=score, moves=moves, from_ply=sum(ply))
            )


def _numbers(option: str, text: str, most: int, *, example: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 < len(numbers) <= most or any(number < 0 for number in numbers):
        raise CommandError(f'{option} takes numbers such as {example}, not "{text}"')
    if max(numbers) > MAX_SCORE:
        raise CommandError(f'{option} "{text}" is out of range: at most {MAX_SCORE}')
    return numbers


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """A match on a server of its own."""

    local: Annotated[
        bool, "On a server of the match's own: the bots are names of built-in ones, or files."
    ] = False
    data: Annotated[
        Path | None,
        "With --local, a folder to keep the games in: the same command takes an "
        "interrupted match up again.",
    ] = None
    first_options: Annotated[
        list[str] | None,
        option(
            "With --local, an option of the first bot, as alphabeta:NAME=VALUE has; repeatable.",
            metavar="NAME=VALUE",
            flags=("--first-option",),
        ),
    ] = None
    second_options: Annotated[
        list[str] | None,
        typer.Option("--second-option", metavar="NAME=VALUE", help="The same of the second bot."),
    ] = None
    wait: Annotated[
        float | None,
        option(
            "Seconds in which the bots have to connect: 30 when left out; with --local 300, "
            "not counting those in which they compile.",
            0,
        ),
    ] = None
    log: Annotated[
        Path | None,
        "With --local, a file to write down what the bots are asked and what they answer.",
    ] = None
