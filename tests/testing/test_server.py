"""A server in a thread of its own tells the test what it has failed with."""

from pathlib import Path

import pytest

from meijin.server.app import App
from meijin.testing.server import ServerThread
from meijin.testing.settings import settings_in


def test_a_server_that_cannot_start(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="can't listen on"),
        ServerThread(
            settings_in(tmp_path, listen="256.0.0.1:1", plaintext=True, open_to_network=True)
        ),
    ):
        pass


def test_a_server_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(App, "tasks", lambda _: [fail()])
    with (
        pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="out of order")),
        ServerThread(settings_in(tmp_path)) as thread,
    ):
        thread._thread.join()
