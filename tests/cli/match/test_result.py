from pathlib import Path
from types import SimpleNamespace

import pytest

from meijin.cli.errors import CommandError
from meijin.cli.match.result import write_game_line
from meijin.v1 import game_pb2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_said_in_a_line() -> None:
    """And closing the file tries nothing again."""
    record = SimpleNamespace(text="{}\n")
    games = SimpleNamespace(ExportGame=None)
    connection = SimpleNamespace(games=games, ask=lambda *_: record)
    with open("/dev/full", "w", encoding="utf-8") as file:  # noqa: PTH123 - a device
        with pytest.raises(CommandError, match="can't use /dev/full: No space left on device"):
            write_game_line(connection, file, game_pb2.Game())  # type: ignore[arg-type]
        assert file.closed
