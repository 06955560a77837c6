"""Options of the commands that run bots and engines."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from meijin.bots import BUILT_IN, Bot, run
from meijin.bots.sdk.turn_log import open_turn_log
from meijin.cli.command import option
from meijin.cli.completion import programs
from meijin.cli.errors import CommandError, unusable_file
from meijin.local.connection import Server
from meijin.wire.contract import HARDWARE_VARIABLE, TOKEN_VARIABLE

_HAS_DASHES = "meijin.cli.has_dashes"


class ProgramCommand(TyperCommand):
    """A command whose arguments are a bot, or behind ``--`` a program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        """Take the arguments as usual, and remember whether there was a ``--``."""
        ctx.meta[_HAS_DASHES] = "--" in args
        return super().parse_args(ctx, args)


def is_behind_dashes(context: typer.Context) -> bool:
    return bool(context.meta[_HAS_DASHES])


BotProgramArgument = Annotated[
    str,
    typer.Argument(
        help=f"One of {', '.join(BUILT_IN)}, or a file: my_bot.py or my_bot.py:MyBot.",
        autocompletion=programs,
    ),
]
BotSettingsOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", help="name=value for the bot; may be given again."),
]
OwnTokenOption = Annotated[
    str | None,
    typer.Option(envvar=TOKEN_VARIABLE, help="The bot's own token; open servers need none."),
]
TurnLogOption = Annotated[
    Path | None,
    typer.Option("--log", help="A file to write down what the bot is asked and what it answers."),
]
HardwareOption = Annotated[
    str | None,
    option(
        "What people are told that it runs on; else the processor's name.", envvar=HARDWARE_VARIABLE
    ),
]


def play(bot: Bot, server: Server, **options: Any) -> None:  # noqa: ANN401 - those of `run`
    """Play with a bot on a server until Ctrl-C."""
    try:
        run(bot, server=server.address, security=server.security, **options)
    except ValueError as error:
        raise CommandError(str(error)) from None


def start_turn_log(path: Path | None, name: str) -> None:
    """Write down what the bot of this process is asked and answers, if that is wanted."""
    if path is None:
        return
    try:
        open_turn_log(path, name)
    except OSError as error:
        raise unusable_file(error) from None


def read_option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise CommandError(f'"{text}" is no option; write it as name=value')
    return name.strip(), value.strip()
