"""Commands that are imported when they are called."""

import subprocess
import sys

import pytest
from typer.main import get_command

from meijin.cli.lazy_group import LazyCommand, LazyGroup
from meijin.cli.main import COMMANDS, app

HEAVY = (
    *("grpc", "google", "numpy", "sqlalchemy", "asyncio", "rich.progress"),
    *("meijin.game", "meijin.wire", "meijin.bots", "meijin.arena.local", "meijin.server"),
)
SHOW_HELP = f"""
import sys
from meijin.cli.main import main
try:
    main()
except SystemExit:
    found = [name for name in {HEAVY} if name in sys.modules]
    print("imported", *found, file=sys.stderr)
"""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_is_the_commands_own(command: LazyCommand) -> None:
    """What the list says of a command is what its own help begins with."""
    group = get_command(app)
    assert isinstance(group, LazyGroup)
    paragraph, *_ = str(group.load(command.name).help).split("\n\n")
    assert " ".join(paragraph.split()) == command.help


def test_help_imports_no_command() -> None:
    """The list of the commands waits for nothing that only some of them need."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW_HELP, "--help"], capture_output=True, text=True, check=True
    )
    assert "Run the match server" in done.stdout
    assert done.stderr == "imported\n"


def test_unknown_command() -> None:
    """There is nothing to load."""
    group = get_command(app)
    assert isinstance(group, LazyGroup)
    with pytest.raises(KeyError):
        group.load("sing")
