"""Options that several nouns have, and what they ask for."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from meijin.cli.command import option
from meijin.cli.completion import registered
from meijin.cli.errors import CommandError, unusable_file
from meijin.game import (
    FREE,
    GOMOKU,
    OPENING_RULES,
    RULES,
    Opening,
    TimeControl,
    Variant,
    encode_moves,
    opening_rule_named,
)
from meijin.game.openings.file import read_openings
from meijin.local.match_settings import USUAL_TIME
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.contract import MAX_OPENINGS, MAX_SEED
from meijin.wire.formats import (
    USUAL_FORMAT,
    format_names,
    format_to_proto,
    parse_option,
    set_options,
)
from meijin.wire.values import time_control_to_proto, variant_to_proto

S = TypeVar("S")
T = TypeVar("T")

MAX_UINT32 = 2**32 - 1
"""The largest number that the contract's fields hold, unless they say otherwise."""
MAX_INT64 = 2**63 - 1
"""The largest seed, and the largest key in a database."""
MAX_BYTES = 64 << 20
"""Of a file of openings."""

_LADDER_HELP = "Such as freestyle-15x15-blitz; the class, or all, where one ladder alone has games."
LadderArgument = Annotated[str, typer.Argument(help=_LADDER_HELP)]
LadderOption = Annotated[str, typer.Option("--ladder", help=_LADDER_HELP)]
RunOption = Annotated[str, typer.Option(help="An earlier run by its number.")]


def _format(text: str) -> str:
    if text not in format_names():
        raise typer.BadParameter(f'"{text}" is no format; there are {", ".join(format_names())}')
    return text


DEFAULT_TIME = USUAL_TIME
DEFAULT_VARIANT = GOMOKU.size

TimeOption = Annotated[
    str,
    typer.Option(
        "--time",
        "-t",
        help="Seconds: 60, 60+0.5, 5/move or 60+0.5,5/move; 1m+1s too. With cpu behind it, "
        "processor time, of hosted bots.",
    ),
]
VariantOption = Annotated[
    str,
    option(
        'Such as "19x19", renju, "renju 15x15 draw at 200" or "3x3, 3 in a row". '
        f"Rules: {', '.join(RULES)}."
    ),
]
OpeningRuleOption = Annotated[
    str,
    option(
        "Who places the first stones, and who gets which colour.",
        metavar=f"[{'|'.join(OPENING_RULES)}]",
    ),
]
DEFAULT_OPENING_RULE = FREE.name
MaxFaultsOption = Annotated[
    int,
    option(
        "Stop when a bot has forfeited this many games by its own faults; 0 for never.",
        0,
        1_000_000,
    ),
]
NameOption = Annotated[str, typer.Option(help="What the tournament is called.")]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is played, from which openings, and how many games at once."""

    variant: VariantOption = DEFAULT_VARIANT
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE
    seed: Annotated[
        int | None, option("Same seed, same schedule; drawn by lot when left out.", 0, MAX_SEED)
    ] = None
    openings: Annotated[
        Path | None,
        'A file with an opening a line: "h8 i9", "h8i9", offsets "0,0, 1,-1"; or SGF or RIF. '
        "Else our balanced ones.",
    ] = None
    concurrency: Annotated[
        int, option("Games at once; 0 for as many as bots and cores take.", 0, MAX_UINT32)
    ] = 0


USUAL_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class TournamentOptions:
    """What a tournament is made with."""

    bots: Annotated[
        list[str],
        typer.Argument(
            help="Names of bots on the server, at least two.",
            metavar="BOT...",
            autocompletion=registered,
        ),
    ]
    form: Annotated[
        str,
        option(
            "Who meets whom: everybody, the first bot each of the others, or as the format says.",
            parser=_format,
            metavar=f"[{'|'.join(format_names())}]",
            flags=("--format",),
        ),
    ] = USUAL_FORMAT
    rounds: Annotated[
        int | None,
        option(
            "Games of each pair, where two rounds are one opening with both colours; or rounds "
            "of a format that has them. Left to the format when left out.",
            1,
            MAX_UINT32,
        ),
    ] = None
    games: Annotated[
        int | None, option("Games of each pair; another word for --rounds.", 1, MAX_UINT32)
    ] = None
    own: Annotated[
        list[str] | None,
        option(
            "A setting of the format's own; may be repeated.",
            metavar="NAME=VALUE",
            flags=("--set",),
        ),
    ] = None
    time: TimeOption = DEFAULT_TIME
    conditions: Conditions = USUAL_CONDITIONS
    unrated: Annotated[bool, "Leave the ladder alone."] = False
    name: NameOption = ""
    max_faults: MaxFaultsOption = 0

    def settings(self) -> pb.TournamentSettings:
        if self.rounds is not None and self.games is not None:
            raise CommandError("--games is another word for --rounds; give one")
        asked = self.conditions
        board = board_of(asked.variant, asked.opening_rule)
        wanted = pb.TournamentSettings(
            name=self.name,
            bots=self.bots,
            format=format_to_proto(self.form),
            rounds=self.rounds or self.games or 0,
            variant=variant_to_proto(board),
            time_control=control_proto(self.time),
            seed=secrets.randbits(31) if asked.seed is None else asked.seed,
            openings=openings_for_games(asked.openings, board, MAX_OPENINGS, "a tournament"),
            max_games=asked.concurrency,
            unrated=self.unrated,
            max_faults=self.max_faults,
        )
        try:
            for text in self.own or ():
                name, equals, value = text.partition("=")
                if not equals:
                    raise CommandError(f'--set: "{text}" is not NAME=VALUE')
                set_options(wanted, self.form, {name: parse_option(self.form, name, value)})
        except ValueError as error:
            raise CommandError(f"--set: {error}") from None
        return wanted


def parsed(parse: Callable[[S], T], text: S) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise CommandError(str(error)) from None


def control_proto(text: str) -> game_pb2.TimeControl:
    return time_control_to_proto(parsed(TimeControl.parse, text))


def board_of(variant: str, opening_rule: str) -> Variant:
    """A variant, whose opening rule may have an option of its own."""
    try:
        board = Variant.parse(variant)
        if opening_rule == DEFAULT_OPENING_RULE:
            return board
        return replace(board, opening_rule=opening_rule_named(opening_rule))
    except ValueError as error:
        raise CommandError(str(error)) from None


def openings_in(path: Path, variant: Variant, plies: int | None = None) -> list[Opening]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise unusable_file(error) from None
    if len(data) > MAX_BYTES:
        raise CommandError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
    try:
        return read_openings(data, variant, plies)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def openings_for_games(path: Path | None, variant: Variant, most: int, of: str) -> list[bytes]:
    """The openings of a file as the contract has them; none without a file."""
    found = [] if path is None else openings_in(path, variant)
    if len(found) > most:
        raise CommandError(f"{path} has {len(found)} openings; {of} takes {most}")
    return [encode_moves(opening) for opening in found]
