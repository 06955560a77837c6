"""What `meijin serve` says when a part of the server has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from meijin.cli.commands import servers
from meijin.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from meijin.server.settings import Settings


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (KeyError("game 7"), "the server failed: KeyError: 'game 7'; the log has more"),
        (IntegrityError("INSERT", {}, Exception("no such row")), "can't be used: no such row"),
    ],
)
def test_an_unexpected_failure_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, line: str
) -> None:
    """In full, and the command ends with one line."""

    async def fail(_settings: Settings, _ready: Callable[[str], None]) -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("more tasks", [failure])])

    monkeypatch.setattr("meijin.server.app.serve", fail)
    monkeypatch.setattr("meijin.server.logs.configure_logs", lambda: None)
    with capture_logs() as logs, pytest.raises(CommandError) as raised:
        servers.serve(data=tmp_path)
    assert line in str(raised.value)
    assert [(entry["event"], entry["exc_info"]) for entry in logs] == [
        ("the server failed", failure)
    ]
