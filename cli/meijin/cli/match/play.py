"""`meijin play`: bots and engines against each other, on all cores of this machine."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.match.commands import (
    Shown,
    check_rated,
    play_sides,
    set_test,
)
from meijin.cli.match.options import Rules
from meijin.cli.match.players import parse_side
from meijin.cli.options import (
    DEFAULT_TIME,
    MAX_UINT32,
    Conditions,
    MaxFaultsOption,
    TimeOption,
    TournamentOptions,
    parsed,
)
from meijin.cli.tournament.follow import PLAYERS
from meijin.cli.tournament.sprt import SprtOptions
from meijin.local.match_settings import USUAL_GAMES, USUAL_MAX_FAULTS
from meijin.local.sides import Side, names_of, read_sides, read_words, set_own_clocks


class Ponder(Enum):
    """Whether engines may go on while the opponent thinks."""

    ON = "on"
    OFF = "off"


def play(
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SIDE...",
            help="alphabeta:level=5, bot.py or './pbrain-mine name=new tc=10+0.1 option.k=3'.",
        ),
    ] = None,
    each: Annotated[
        list[str] | None,
        option("Words about every side, which its own go before.", metavar="'KEY=VALUE...'"),
    ] = None,
    sides_file: Annotated[
        Path | None,
        option("More sides, a table \\[\\[side]] each with such keys.", flags=("--sides",)),
    ] = None,
    games: Annotated[
        int | None,
        option(
            "Between each two, colours alternating; 10 when left out. With --sprt the most.",
            1,
            MAX_UINT32,
            flags=("--games", "--rounds"),
        ),
    ] = None,
    gauntlet: Annotated[bool, "The first side meets each of the others, and nobody else."] = False,
    time: TimeOption = DEFAULT_TIME,
    *,
    conditions: Conditions,
    rules: Rules,
    pin: Annotated[bool, "Keep each game, with both of its sides, to a core of its own."] = False,
    ponder: Annotated[Ponder, "off: engines stand still while the opponent thinks."] = Ponder.ON,
    max_faults: MaxFaultsOption = USUAL_MAX_FAULTS,
    rated: Annotated[bool, "Keep a ladder of these games."] = False,
    sequential: SprtOptions,
    resume: Annotated[
        Path | None,
        option(
            "A folder to keep the games in: the same command takes an interrupted one up again.",
            flags=("--data", "--resume"),
        ),
    ] = None,
    games_to: Annotated[
        Path | None,
        option(
            "Write every game as it ends, a JSON object in a line; - for standard output.",
            metavar="FILE",
        ),
    ] = None,
    rating_interval: Annotated[
        int | None,
        option(
            "With two sides: say after this many games where the match stands; 0 for never.",
            0,
            MAX_UINT32,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result alone: no games, no live line.")
    ] = False,
) -> Output:
    """Play bots and engines against each other here.

    meijin play alphabeta:level=5 mcts ./pbrain-mine --games 4 --time 0.5/move

    A side is a built-in bot, a Python file, or the command of an engine that speaks the Gomocup
    protocol, Yixin's or GTP. Words about it stand behind it in the same quotes: name=, tc=, proto=,
    margin= (ms), memory= (MB), with= (a file of weights) and option.NAME=.

    Games at once, with --concurrency 0: physical cores, divided by the most threads that a side's
    options say (threads, thread_num); never more than there are games.

    The status is 5 when a side can't be run, 6 when one has forfeited more games than
    --max-faults allows, and with --sprt as that of `meijin match`.
    """
    words = read_words(each or ())
    sides = [parse_side(text, words) for text in specs or ()]
    if sides_file is not None:
        sides += _sides_of(sides_file, words)
    if len(sides) < PLAYERS:
        raise CommandError("give two sides or more, such as: meijin play alphabeta mcts")
    names = parsed(names_of, sides)
    if pin and max(side.threads for side in sides) > 1:
        raise CommandError(
            "--pin gives a game one core; give no side more threads, or leave it out"
        )
    wanted = TournamentOptions(
        names,
        form="gauntlet" if gauntlet else "round-robin",
        rounds=games or USUAL_GAMES,
        time=time,
        conditions=conditions,
        unrated=not rated,
        name=shorten(" - ".join(names), MAX_NAME, placeholder=" ..."),
        max_faults=max_faults,
    ).settings()
    set_own_clocks(wanted, sides)
    rules.set(wanted)
    check_rated(wanted)
    set_test(wanted, sequential, games)
    shown = Shown(games_to, rating_interval, quiet)
    sides = [replace(side, is_suspended=ponder is Ponder.OFF) for side in sides]
    played: dict[str, Side] = dict(zip(names, sides, strict=True))
    return play_sides(played, wanted, conditions, shown, data=resume, is_pinned=pin)


MAX_NAME = 80
"""Characters of a tournament's name."""


def _sides_of(path: Path, each: Sequence[str]) -> list[Side]:
    try:
        return read_sides(path, each)
    except OSError as error:
        raise unusable_file(error) from None
    except ValueError as error:
        raise CommandError(str(error)) from None
