"""An engine that `meijin bot wrap` is to run, among the words of a command."""

from collections.abc import Sequence

import typer

from meijin.bots.bridge.settings import WrapSettings
from meijin.cli.bot.engines import engine_settings, wrap
from meijin.cli.command import Commands


def wrapped_engine(words: Sequence[str]) -> WrapSettings | None:
    """How ``meijin bot wrap`` among the words runs an engine; ``None`` where they don't wrap any."""
    for start in range(len(words) - 1):
        if list(words[start : start + 2]) == ["bot", "wrap"]:
            app = Commands()
            app.command()(wrap)
            command = typer.main.get_command(app)
            with command.make_context("wrap", list(words[start + 2 :])) as context:
                return engine_settings(context.params)
    return None
