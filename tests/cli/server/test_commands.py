from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from meijin.cli.errors import CommandError
from meijin.cli.server import commands as servers

if TYPE_CHECKING:
    from pathlib import Path

    from meijin.server.settings import Settings

NO_ROW = IntegrityError("INSERT", {}, Exception("no such row"))


@pytest.mark.parametrize(
    ("failures", "line"),
    [
        ([KeyError("game 7")], "the server failed: KeyError: 'game 7'; the log has more"),
        ([NO_ROW], "can't be used: no such row"),
        ([NO_ROW, KeyError("game 7")], "can't be used: no such row"),
        ([KeyError("game 7"), NO_ROW], "can't be used: no such row"),
    ],
)
def test_unexpected_failures_are_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: list[Exception], line: str
) -> None:
    """Each in full, and the command ends with one line, of the database if it has failed."""

    async def fail(_settings: Settings, *_: object) -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("more tasks", failures)])

    monkeypatch.setattr("meijin.server.app.serve", fail)
    monkeypatch.setattr("meijin.server.logs.configure_logs", lambda *_: None)
    with capture_logs() as logs, pytest.raises(CommandError) as raised:
        servers.serve(data=tmp_path)
    assert line in str(raised.value)
    assert [(entry["event"], entry["exc_info"]) for entry in logs] == [
        ("the server failed", failure) for failure in failures
    ]


@pytest.mark.parametrize("registration", ["closed", "invitation"])
def test_open_is_one_way_of_registration(registration: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"--open and --registration {registration} exclude"):
        servers.serve(data=tmp_path, open=True, registration=registration)
