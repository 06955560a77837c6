"""The benchmark of games that wait runs."""

import json
import sys

import idle_games
import pytest


def test_every_size_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row each, with a cost above nothing."""
    words = ["idle_games.py", "--games", "10", "200", "--seconds", "5", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    idle_games.main()
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert [row["games"] for row in rows] == [10, 200]
    assert all(row["cpu_percent"] > 0 for row in rows)
