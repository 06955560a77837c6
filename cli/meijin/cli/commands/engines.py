"""`meijin bot wrap` and `engine`: existing engines as bots, and bots as engines."""

import logging
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from meijin.bots import load_bot
from meijin.bots import run as run_bot
from meijin.bots.bridge.brain import Brain
from meijin.bots.bridge.brain_loop import obey
from meijin.bots.bridge.command import find_command
from meijin.bots.bridge.identity import PROTOCOLS
from meijin.bots.bridge.limits import Limits
from meijin.bots.bridge.rules import OPENING_COMMANDS, RULE_NUMBERS
from meijin.bots.bridge.settings import WrapSettings
from meijin.bots.bridge.times import MARGIN
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.cli.bot_options import (
    BotProgramArgument,
    BotSettingsOption,
    HardwareOption,
    OwnTokenOption,
    TurnLogOption,
    start_turn_log,
)
from meijin.cli.connection import Server, with_server
from meijin.cli.errors import CommandError
from meijin.game import FREE, OpeningRule, Rule, opening_rule_named, rule_named
from meijin.game.rules.variant import MAX_SIDE, MIN_GOMOKU_SIDE

_MEGABYTE = 1 << 20
_MILLISECOND = timedelta(milliseconds=1)


def engine(bot: BotProgramArgument, options: BotSettingsOption = None) -> None:
    """Be an engine of the Gomocup protocol on standard input and output, for any manager."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    loaded = load_bot(bot, options or ())
    loaded.prepare()
    commands = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # what a bot prints is no answer
    try:
        obey(Brain(loaded), commands, answers)
    finally:
        loaded.close()


@with_server
def wrap(
    server: Server,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- ENGINE [ARGS]...", help="The engine's program and its arguments, behind --."
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"What it speaks, {', '.join(PROTOCOLS)}; found out when left out."
        ),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="Told to the engine as INFO, with GTP as a command; may be given again.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Play under this name; else that of the engine's file."),
    ] = None,
    token: OwnTokenOption = None,
    games: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=1024, help="Games at once, each with a process of its own."
        ),
    ] = 1,
    rules: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help=f"What it plays, with commas: {', '.join(RULE_NUMBERS)}."
        ),
    ] = "freestyle",
    opening_rules: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Openings that it knows, with commas: {', '.join(OPENING_COMMANDS)}, or free for "
            "none of them; found out when left out.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES", help="Its boards' sides, such as 15 or 10-20; found out when left out."
        ),
    ] = None,
    margin: Annotated[
        int,
        typer.Option(
            metavar="MS",
            min=0,
            max=60_000,
            help="Milliseconds kept back of the time it is told of.",
        ),
    ] = MARGIN // _MILLISECOND,
    pause: Annotated[
        int | None,
        typer.Option(
            metavar="MS",
            min=0,
            max=10_000,
            help="Milliseconds between its move and the next command; found out when left out.",
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="MB", min=1, max=1 << 24, help="Megabytes that each of its processes may use."
        ),
    ] = None,
    cpu: Annotated[
        int | None,
        typer.Option(
            metavar="S", min=1, help="Seconds of processor time in one game; a process a game then."
        ),
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Keep each process to one core.")] = False,
    suspend: Annotated[
        bool, typer.Option("--suspend", help="Have it stand still while the opponent thinks.")
    ] = False,
    supplier: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What it says when not it but its licence server or model has failed.",
        ),
    ] = "",
    hardware: HardwareOption = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show what is said to the engine and by it.")
    ] = False,
    log: TurnLogOption = None,
) -> None:
    """Connect an engine that speaks the Gomocup protocol or GTP, and play until Ctrl-C."""
    if not hasattr(os, "fork"):
        raise CommandError(
            "engines are wrapped on Linux and macOS; on Windows do it in WSL, where a program for "
            "Windows starts too"
        )
    settings = WrapSettings(
        command=find_command(command),
        protocol=_protocol(protocol),
        rules=_rules(rules),
        opening_rules=None if opening_rules is None else _opening_rules(opening_rules),
        sizes=None if sizes is None else _sizes(sizes),
        games=games,
        options=dict(read_option(text) for text in options or ()),
        margin=margin * _MILLISECOND,
        pause=None if pause is None else pause * _MILLISECOND,
        limits=Limits(
            memory=None if memory is None else memory * _MEGABYTE,
            cpu=None if cpu is None else timedelta(seconds=cpu),
            is_pinned=pin,
            is_suspended=suspend,
        ),
        supplier=supplier.strip(),
    )
    if log is not None and not verbose:
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
        )
        for handler in logging.getLogger().handlers:
            handler.setLevel(logging.INFO)  # what goes to the file is not shown as well
    start_turn_log(log, name or Path(settings.command[0]).stem)
    if verbose:
        logging.getLogger("meijin.bots.engine").setLevel(logging.DEBUG)
    try:
        run_bot(
            WrappedBot(settings),
            server=server.address,
            security=server.security,
            token=token,
            name=name,
            hardware=hardware,
        )
    except ValueError as error:
        raise CommandError(str(error)) from None


def _protocol(name: str | None) -> str | None:
    if name is not None and name not in PROTOCOLS:
        raise CommandError(f'no protocol "{name}"; there are {", ".join(PROTOCOLS)}')
    return name


def _rules(text: str) -> list[Rule]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in RULE_NUMBERS:
            raise CommandError(f'no rule "{name}"; the rules are {", ".join(RULE_NUMBERS)}')
    return [rule_named(name) for name in names]


def _opening_rules(text: str) -> list[OpeningRule]:
    """Read names of opening rules; the free one is known to all."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in OPENING_COMMANDS and name != FREE.name:
            known = ", ".join((*OPENING_COMMANDS, FREE.name))
            raise CommandError(f'no opening rule "{name}" that engines know; there are {known}')
    return [opening_rule_named(name) for name in names if name != FREE.name]


def _sizes(text: str) -> tuple[int, int]:
    """Read ``15`` or ``10-20``."""
    low, _, high = text.partition("-")
    try:
        sizes = int(low), int(high or low)
    except ValueError:
        raise CommandError(f'"{text}" is no size; write 15, or 10-20') from None
    if not MIN_GOMOKU_SIDE <= sizes[0] <= sizes[1] <= MAX_SIDE:
        raise CommandError(f'sizes "{text}" are out of range: {MIN_GOMOKU_SIDE} to {MAX_SIDE}')
    return sizes


def read_option(text: str) -> tuple[str, str]:
    """Read an engine's option, such as ``name=value``.

    Raises:
        CommandError: it is none.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise CommandError(f'"{text}" is no option; write it as name=value')
    return name.strip(), value.strip()
