"""The benchmark of a slow game beside others runs."""

import json
import sys

import pytest
import slow_game


def test_the_journal_is_looked_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds what was played beside the slow game, and is read at the end."""
    words = ["slow_game.py", "--seconds", "2", "--looks", "2", "--games", "8", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    slow_game.main()
    first, last = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert 0 < first["entries"] <= last["entries"]
    assert last["journal_mb"] > 0
    assert last["restart_cpu"] > 0
