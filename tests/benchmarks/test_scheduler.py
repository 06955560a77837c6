"""The benchmark of the scheduler's looks runs."""

import json
import sys

import pytest
import scheduler


def test_every_size_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row each, with as many games as there can be, and a cost above nothing."""
    words = [
        "scheduler.py",
        "--bots",
        "2",
        "20",
        "--tournaments",
        "1",
        "3",
        "--looks",
        "5",
        "--json",
    ]
    monkeypatch.setattr(sys, "argv", words)
    scheduler.main()
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    sizes = [(row["bots"], row["tournaments"]) for row in rows]
    assert sizes == [(2, 1), (2, 3), (20, 1), (20, 3)]
    assert all(0 < row["running"] <= row["bots"] // 2 for row in rows)
    assert rows[0]["running"] == 1
    assert all(row[name] > 0 for row in rows for name in ("ended_us", "joined_us", "idle_us"))
