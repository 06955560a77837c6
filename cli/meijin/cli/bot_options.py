"""Options of the commands that run bots and engines."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from meijin.bots import BUILT_IN
from meijin.cli.completion import programs
from meijin.wire.contract import HARDWARE_VARIABLE, TOKEN_VARIABLE

_HAS_DASHES = "meijin.cli.has_dashes"


class ProgramCommand(TyperCommand):
    """A command whose arguments are a bot, or behind ``--`` a program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        """Take the arguments as usual, and remember whether there was a ``--``."""
        ctx.meta[_HAS_DASHES] = "--" in args
        return super().parse_args(ctx, args)


def is_behind_dashes(context: typer.Context) -> bool:
    """Whether the arguments of a `ProgramCommand` stand behind ``--``."""
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
HardwareOption = Annotated[
    str | None,
    typer.Option(
        envvar=HARDWARE_VARIABLE,
        help="What people are told that it runs on; else the processor's name.",
    ),
]
