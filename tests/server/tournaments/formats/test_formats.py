"""What it takes to add a format."""

from pathlib import Path

import pytest

from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.challenge import CHALLENGE
from meijin.wire.formats import format_names

ROOT = Path(__file__).resolve().parents[4]
ROOMS = ("proto", "game", "store", "bots", "ladder", "server", "web", "local", "cli")


def test_the_contract_and_the_registry_name_the_same_formats() -> None:
    """Each by the name of its enum value; that of challenges is for no tournament to ask for."""
    assert set(FORMATS) == {*format_names(), CHALLENGE}


@pytest.mark.parametrize("word", ["swiss", "knockout"])
def test_a_format_is_one_module_one_line_and_its_part_of_the_contract(word: str) -> None:
    found = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for pattern in ("*.py", "*.proto")
        for path in (ROOT / room).rglob(pattern)
        if "_pb2" not in path.name and word in path.read_text().lower()
    }
    assert found == {
        "proto/meijin/v1/tournament_service.proto",
        "server/meijin/server/tournaments/formats/__init__.py",
        f"server/meijin/server/tournaments/formats/{word}.py",
    }
