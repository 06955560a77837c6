from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from meijin.cli.errors import CommandError
from meijin.cli.main import app
from meijin.cli.options import Conditions, TournamentOptions
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb

TOO_LARGE = [
    *(
        f"tournament run --detach ada bob --{name}={{}}"
        for name in ("rounds", "concurrency", "seed")
    ),
    "match ada bob --games={}",
    "match ada bob --sprt=0,5 --games={}",
    "ladder run --games={}",
    "ladder --matrix --top={}",
    "ladder verify --run={}",
    "demo --data=/dev/null/demo --rounds={}",
]


def settings(**conditions: Any) -> pb.TournamentSettings:
    """What a tournament of Ada and Bob is asked for as."""
    return TournamentOptions(["ada", "bob"], conditions=Conditions(**conditions)).settings()


@pytest.mark.parametrize("command", TOO_LARGE)
def test_numbers_that_cannot_travel_are_refused(command: str) -> None:
    refused = CliRunner().invoke(app, command.format(10**20).split())
    assert refused.exit_code == 2
    assert "Invalid value" in refused.output


def test_openings_are_text(tmp_path: Path) -> None:
    path = tmp_path / "openings.png"
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(CommandError, match=r"openings\.png: it is no text"):
        settings(openings=path)


def test_an_opening_rule_goes_with_the_variant() -> None:
    """By an option of its own, or written with the variant; the option comes first."""
    swap2 = game_pb2.OPENING_RULE_SWAP2
    for wanted in (
        settings(opening_rule="swap2"),
        settings(variant="15x15 swap2"),
        settings(variant="15x15 swap1", opening_rule="swap2"),
    ):
        assert wanted.variant.opening_rule == swap2
    assert not settings().variant.opening_rule
    with pytest.raises(CommandError, match="the opening rules are free, swap1, swap, swap2"):
        settings(opening_rule="swap3")
    with pytest.raises(CommandError, match="swap2 needs a longer line than 3"):
        settings(variant="3x3 line 3", opening_rule="swap2")
