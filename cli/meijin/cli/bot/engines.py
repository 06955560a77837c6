"""`meijin bot wrap` and `engine`: existing engines as bots, and bots as engines."""

import logging
import os
import sys
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

from meijin.bots import Bot, load_bot
from meijin.bots.bridge.brain import Brain, obey
from meijin.bots.bridge.gomocup import OPENING_COMMANDS, RULE_NUMBERS
from meijin.bots.bridge.probe import PROTOCOLS
from meijin.bots.bridge.settings import MARGIN, EngineLimits, WrapSettings, find_command
from meijin.bots.bridge.wrapped import WrappedBot
from meijin.cli.bot.options import (
    BotProgramArgument,
    BotSettingsOption,
    HardwareOption,
    OwnTokenOption,
    TurnLogOption,
    play,
    read_option,
    start_turn_log,
)
from meijin.cli.command import option
from meijin.cli.errors import CommandError
from meijin.game import FREE, OpeningRule, Rule, opening_rule_named, rule_named
from meijin.game.rules.variant import MAX_SIDE, MIN_GOMOKU_SIDE
from meijin.local.connection import Server

_MEGABYTE = 1 << 20
_MILLISECOND = timedelta(milliseconds=1)


def engine(bot: BotProgramArgument, options: BotSettingsOption = None) -> None:
    """Be an engine of the Gomocup protocol on standard input and output, for any manager."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    loaded = load_bot(bot, options or ())
    commands = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # what a bot prints is no answer
    try:
        obey(Brain(loaded, _preparing(loaded).result), commands, answers)
    finally:
        loaded.close()


def _preparing(bot: Bot) -> "Future[None]":
    """Get a bot ready in a thread of its own, which a manager that gives up need not wait for."""
    ready: Future[None] = Future()

    def prepare() -> None:
        try:
            bot.prepare()
            ready.set_result(None)
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            ready.set_exception(error)

    Thread(target=prepare, daemon=True).start()
    return ready


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
        option(f"What it speaks, {', '.join(PROTOCOLS)}; found out when left out.", metavar="NAME"),
    ] = None,
    options: Annotated[
        list[str] | None,
        option(
            "Told to the engine as INFO, with GTP as a command; may be given again.",
            metavar="NAME=VALUE",
            flags=("--option", "-o"),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Play under this name; else that of the engine's file."),
    ] = None,
    token: OwnTokenOption = None,
    games: Annotated[
        int, option("Games at once, each with a process of its own.", 1, 1024, metavar="N")
    ] = 1,
    rules: Annotated[
        str, option(f"What it plays, with commas: {', '.join(RULE_NUMBERS)}.", metavar="NAMES")
    ] = "freestyle",
    opening_rules: Annotated[
        str | None,
        option(
            f"Openings that it knows, with commas: {', '.join(OPENING_COMMANDS)}, or free for "
            "none of them; found out when left out.",
            metavar="NAMES",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        option("Its boards' sides, such as 15 or 10-20; found out when left out.", metavar="SIZES"),
    ] = None,
    margin: Annotated[
        int, option("Milliseconds kept back of the time it is told of.", 0, 60_000, metavar="MS")
    ] = MARGIN // _MILLISECOND,
    pause: Annotated[
        int | None,
        option(
            "Milliseconds between its move and the next command; found out when left out.",
            0,
            10_000,
            metavar="MS",
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        option(
            "Weights or configuration, part of its version; may be given again.",
            metavar="FILE|DIR",
            flags=("--with",),
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        option("Where it may keep files from game to game; told as INFO.", metavar="DIR"),
    ] = None,
    memory: Annotated[
        int | None,
        option("Megabytes that each of its processes may use.", 1, 1 << 24, metavar="MB"),
    ] = None,
    cpu: Annotated[
        int | None,
        option("Seconds of processor time in one game; a process a game then.", 1, metavar="S"),
    ] = None,
    pin: Annotated[bool, "Keep each process to one core."] = False,
    suspend: Annotated[bool, "Have it stand still while the opponent thinks."] = False,
    supplier: Annotated[
        str,
        option(
            "What it says when not it but its licence server or model has failed.", metavar="TEXT"
        ),
    ] = "",
    hardware: HardwareOption = None,
    verbose: Annotated[bool, "Show what is said to the engine and by it."] = False,
    log: TurnLogOption = None,
) -> None:
    """Connect an engine that speaks the Gomocup protocol or GTP, and play until Ctrl-C."""
    settings = engine_settings(dict(locals()))
    if log is not None and not verbose:
        form = "%(asctime)s %(message)s"
        logging.basicConfig(level=logging.INFO, format=form, datefmt="%H:%M:%S")
        for handler in logging.getLogger().handlers:
            handler.setLevel(logging.INFO)  # what goes to the file is not shown as well
    start_turn_log(log, name or Path(settings.command[0]).stem)
    if verbose:
        logging.getLogger("meijin.bots.engine").setLevel(logging.DEBUG)
    play(WrappedBot(settings), server, token=token, name=name, hardware=hardware)


def engine_settings(told: Mapping[str, Any]) -> WrapSettings:
    """How an engine is run, as the parameters of `wrap` tell."""
    if not hasattr(os, "fork"):
        raise CommandError(
            "engines are wrapped on Linux and macOS; on Windows do it in WSL, where a program for "
            "Windows starts too"
        )
    protocol, opening_rules, sizes = told["protocol"], told["opening_rules"], told["sizes"]
    pause, memory, cpu = told["pause"], told["memory"], told["cpu"]
    return WrapSettings(
        command=find_command(told["command"]),
        protocol=None if protocol is None else _protocol(protocol),
        rules=_rules(told["rules"]),
        opening_rules=None if opening_rules is None else _opening_rules(opening_rules),
        sizes=None if sizes is None else _sizes(sizes),
        games=told["games"],
        options=dict(read_option(text) for text in told["options"] or ()),
        files=tuple(told["files"] or ()),
        folder=told["folder"],
        margin=told["margin"] * _MILLISECOND,
        pause=None if pause is None else pause * _MILLISECOND,
        limits=EngineLimits(
            memory=None if memory is None else memory * _MEGABYTE,
            cpu=None if cpu is None else timedelta(seconds=cpu),
            is_pinned=told["pin"],
            is_suspended=told["suspend"],
        ),
        supplier=told["supplier"].strip(),
    )


def _protocol(name: str) -> str:
    return _known(name, "protocol", PROTOCOLS, "; there are")[0]


def _rules(text: str) -> list[Rule]:
    return list(map(rule_named, _known(text, "rule", RULE_NUMBERS, "; the rules are")))


def _opening_rules(text: str) -> list[OpeningRule]:
    """Read names of opening rules; the free one is known to all."""
    known = (*OPENING_COMMANDS, FREE.name)
    names = _known(text, "opening rule", known, " that engines know; there are")
    return [opening_rule_named(name) for name in names if name != FREE.name]


def _known(text: str, what: str, known: Collection[str], are: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise CommandError(f'no {what} "{name}"{are} {", ".join(known)}')
    return names


def _sizes(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    try:
        sizes = int(low), int(high or low)
    except ValueError:
        raise CommandError(f'"{text}" is no size; write 15, or 10-20') from None
    if not MIN_GOMOKU_SIDE <= sizes[0] <= sizes[1] <= MAX_SIDE:
        raise CommandError(f'sizes "{text}" are out of range: {MIN_GOMOKU_SIDE} to {MAX_SIDE}')
    return sizes
