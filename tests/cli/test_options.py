"""What tournaments are asked for with."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.cli.options import settings

TOO_LARGE = [
    "tournament create ada bob --rounds={}",
    "tournament create ada bob --concurrency={}",
    "tournament create ada bob --seed={}",
    "match ada bob --games={}",
    "match ada bob --sprt=0,5 --games={}",
    "ladder run --games={}",
    "ladder --matrix --top={}",
    "ladder verify --run={}",
    "demo --data=/dev/null/demo --rounds={}",
]


@pytest.mark.parametrize("command", TOO_LARGE)
def test_numbers_that_cannot_travel_are_refused(command: str) -> None:
    """As the misuse of an option, before anything is asked of a server."""
    refused = CliRunner().invoke(app, command.format(10**20).split())
    assert refused.exit_code == 2
    assert "Invalid value" in refused.output


def test_openings_are_text(tmp_path: Path) -> None:
    """Another file is refused in one line."""
    path = tmp_path / "openings.png"
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(CommandError, match=r"openings\.png is no text"):
        settings(["ada", "bob"], openings=path)
