"""Options of the commands that run bots and engines."""

from typing import Annotated

import typer

from meijin.bots import BUILT_IN
from meijin.wire.contract import HARDWARE_VARIABLE, TOKEN_VARIABLE

BotProgramArgument = Annotated[
    str,
    typer.Argument(help=f"One of {', '.join(BUILT_IN)}, or a file: my_bot.py or my_bot.py:MyBot."),
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
