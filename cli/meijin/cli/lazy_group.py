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
    module: str
    """Has its function by that name, or its `typer.Typer` as `app`."""
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
        found = {command.name: command for command in self.lazy_commands}[name]
        with importing():
            module = import_module(found.module)
            target = getattr(module, "app", None) or getattr(module, name)
            from meijin.cli.command import Commands  # noqa: PLC0415 - takes as long as all the rest
        root = Commands(rich_markup_mode=MARKUP, pretty_exceptions_enable=False)
        root.callback()(lambda: None)  # a group, of a single command too
        if isinstance(target, typer.Typer):
            root.add_typer(target, name=name, help=found.help)
        else:
            root.command(name)(target)
        loaded = typer.main.get_group(root).commands[name]
        assert isinstance(loaded, TyperCommand | TyperGroup)
        return loaded

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and self.load(name or ""), rest
