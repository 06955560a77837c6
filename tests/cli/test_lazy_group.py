import subprocess
import sys

import pytest
from typer.main import get_command

from meijin.cli.lazy_group import LazyCommand, LazyGroup
from meijin.cli.main import COMMANDS, app

HEAVY = (
    *("grpc", "google", "numpy", "sqlalchemy", "asyncio", "rich.progress"),
    *("meijin.game", "meijin.wire", "meijin.bots", "meijin.local.server", "meijin.server"),
)
SLOW = ("numpy", "sqlalchemy", "numba", "pydantic", "structlog", "matplotlib", "pyarrow")
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
    group = get_command(app)
    assert isinstance(group, LazyGroup)
    paragraph, *_ = str(group.load(command.name).help).split("\n\n")
    assert " ".join(paragraph.split()) == command.help


def test_help_imports_no_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOW_HELP, "--help"], capture_output=True, text=True, check=True
    )
    assert "Run the match server" in done.stdout
    assert done.stderr == "imported\n"


def test_no_command_waits_for_what_takes_long() -> None:
    """All of them together import none of these before they are called."""
    load = f"""
import sys
from typer.main import get_group
from meijin.cli.main import COMMANDS, app
for command in COMMANDS:
    get_group(app).load(command.name)
print(*[name for name in {SLOW} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
