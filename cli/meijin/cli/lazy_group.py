"""A group of commands whose modules are imported when one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from meijin.cli.importing import importing

MARKUP: Final = "rich"
"""How help texts are written."""


class LazyCommand(NamedTuple):
    """A command, or a group of commands, as it is known before its module is imported."""

    name: str
    """What is typed."""
    target: str
    """Its function, or its `typer.Typer`, as ``module:attribute``."""
    help: str
    """The first paragraph of its help."""


class LazyGroup(TyperGroup):
    """Lists its commands without importing any of them, and imports the one that is called."""

    lazy_commands: ClassVar[tuple[LazyCommand, ...]]
    """What a group of its own sets; in the order of the help."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - typer's
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, help=text) for name, _, text in self.lazy_commands
        }

    def load(self, name: str) -> TyperCommand | TyperGroup:
        """Import a command.

        Raises:
            KeyError: there is none of that name.
        """
        targets = {command.name: command.target for command in self.lazy_commands}
        module, _, attribute = targets[name].partition(":")
        with importing():
            target = getattr(import_module(module), attribute)
        root = typer.Typer(rich_markup_mode=MARKUP, pretty_exceptions_enable=False)
        root.callback()(_nothing)
        if isinstance(target, typer.Typer):
            root.add_typer(target, name=name)
        else:
            root.command(name)(target)
        loaded = typer.main.get_group(root).commands[name]
        assert isinstance(loaded, TyperCommand | TyperGroup)
        return loaded

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's
        """Find the command that is called, and import it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and self.load(name or ""), rest


def _nothing() -> None:
    """Make a group of a single command too."""
