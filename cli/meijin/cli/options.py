"""The options that tournaments are made with, and the making."""

import inspect
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer

from meijin.cli.completion import registered
from meijin.cli.errors import CommandError
from meijin.cli.opening_files import openings_in
from meijin.game import (
    FREE,
    GOMOKU,
    OPENING_RULES,
    RULES,
    TimeControl,
    Variant,
    encode_moves,
    opening_rule_named,
)
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import (
    USUAL_FORMAT,
    format_names,
    format_to_proto,
    parse_option,
    set_options,
    time_control_to_proto,
    variant_to_proto,
)
from meijin.wire.contract import MAX_OPENINGS

P = ParamSpec("P")

MAX_UINT32 = 2**32 - 1
"""The largest number that the contract's fields hold, unless they say otherwise."""
MAX_INT64 = 2**63 - 1
"""The largest seed, and the largest key in a database."""

_LADDER_HELP = "Such as freestyle-15x15-blitz; the class, or all, where one ladder alone has games."
LadderArgument = Annotated[str, typer.Argument(help=_LADDER_HELP)]
LadderOption = Annotated[str, typer.Option("--ladder", help=_LADDER_HELP)]


def _format(text: str) -> str:
    if text not in format_names():
        raise typer.BadParameter(f'"{text}" is no format; there are {", ".join(format_names())}')
    return text


BotsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Names of bots on the server, at least two.",
        metavar="BOT...",
        autocompletion=registered,
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        parser=_format,
        metavar=f"[{'|'.join(format_names())}]",
        help="Who meets whom: everybody, the first bot each of the others, or as the format says.",
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MAX_UINT32,
        help="Games of each pair, where two rounds are one opening with both colours; or rounds "
        "of a format that has them. Left to the format when left out.",
    ),
]
GamesOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_UINT32, help="Games of each pair; another word for --rounds."),
]
OwnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting of the format's own; may be repeated."
    ),
]
DEFAULT_TIME = "60+0.5"
DEFAULT_VARIANT = GOMOKU.size

TimeOption = Annotated[
    str,
    typer.Option("--time", "-t", help="Seconds: 60, 60+0.5, 5/move or 60+0.5,5/move; 1m+1s too."),
]
VariantOption = Annotated[
    str,
    typer.Option(
        help='Such as "15x15", "renju 15x15 draw at 200" or "3x3, 3 in a row". '
        f"Rules: {', '.join(RULES)}."
    ),
]
OpeningRuleOption = Annotated[
    str,
    typer.Option(
        metavar=f"[{'|'.join(OPENING_RULES)}]",
        help="Who places the first stones, and who gets which colour.",
    ),
]
DEFAULT_OPENING_RULE = FREE.name
SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0, max=MAX_INT64, help="Same seed, same schedule; drawn by lot when left out."
    ),
]
OpeningsOption = Annotated[
    Path | None,
    typer.Option(
        help='A file with an opening a line: "h8 i9", "h8i9", offsets "0,0, 1,-1"; or SGF or RIF. '
        "Else our balanced ones."
    ),
]
ConcurrencyOption = Annotated[
    int,
    typer.Option(min=0, max=MAX_UINT32, help="Games at once; 0 leaves it to what the bots can."),
]
UnratedOption = Annotated[bool, typer.Option("--unrated", help="Leave the ladder alone.")]
MaxFaultsOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=1_000_000,
        help="Stop when a bot has forfeited so many games by its own faults; 0 for never.",
    ),
]
NameOption = Annotated[str, typer.Option(help="What the tournament is called.")]


def settings(
    bots: BotsArgument,
    form: FormatOption = USUAL_FORMAT,
    rounds: RoundsOption = None,
    games: GamesOption = None,
    own: OwnOption = None,
    time: TimeOption = DEFAULT_TIME,
    variant: VariantOption = DEFAULT_VARIANT,
    opening_rule: OpeningRuleOption = DEFAULT_OPENING_RULE,
    seed: SeedOption = None,
    openings: OpeningsOption = None,
    concurrency: ConcurrencyOption = 0,
    unrated: UnratedOption = False,
    name: NameOption = "",
    max_faults: MaxFaultsOption = 0,
) -> pb.TournamentSettings:
    """What the options ask for.

    Raises:
        CommandError: one of them can't be what it should be.
    """
    if rounds is not None and games is not None:
        raise CommandError("--games is another word for --rounds; give one")
    try:
        board = Variant.parse(variant)
        if opening_rule != DEFAULT_OPENING_RULE:
            board = replace(board, opening_rule=opening_rule_named(opening_rule))
        control = TimeControl.parse(time)
    except ValueError as error:
        raise CommandError(str(error)) from None
    wanted = pb.TournamentSettings(
        name=name,
        bots=bots,
        format=format_to_proto(form),
        rounds=rounds or games or 0,
        variant=variant_to_proto(board),
        time_control=time_control_to_proto(control),
        seed=secrets.randbits(31) if seed is None else seed,
        openings=[] if openings is None else _openings(openings, board),
        max_games=concurrency,
        unrated=unrated,
        max_faults=max_faults,
    )
    if own:
        _set_own(wanted, form, own)
    return wanted


def _set_own(wanted: pb.TournamentSettings, form: str, own: list[str]) -> None:
    """Fill in settings of the format's own, each a field of the contract's message for it."""
    try:
        set_options(wanted, form, dict(_own_option(form, text) for text in own))
    except ValueError as error:
        raise CommandError(f"--set: {error}") from None


def _own_option(form: str, text: str) -> tuple[str, str | float]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f'"{text}" is not NAME=VALUE')
    return name, parse_option(form, name, value)


def _openings(path: Path, variant: Variant) -> list[bytes]:
    found = openings_in(path, variant)
    if len(found) > MAX_OPENINGS:
        raise CommandError(f"{path} has {len(found)} openings; a tournament takes {MAX_OPENINGS}")
    return [encode_moves(opening) for opening in found]


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `settings`, and what they ask for as `wanted`."""
    options = inspect.signature(settings).parameters
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "wanted"]

    @wraps(command)
    def with_options(**values: Any) -> None:  # noqa: ANN401 - as many types as options
        wanted = settings(**{name: values.pop(name) for name in options})
        command(wanted=wanted, **values)

    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by typer
        [*options.values(), *own]
    )
    return with_options
