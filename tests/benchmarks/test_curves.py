"""What costs grow with, at small sizes."""

import json
from dataclasses import replace

import curves
import pytest
from arbitration import Run
from curves import main
from processor_time import ServerTime
from tally import Tally

RUN = Run(1.0, ServerTime(0.3, 0.1, 0.1), 0.1, Tally(10_000, 500), 5, 0, 0)


def results(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, float]]:
    """The rows that are printed."""
    main([*words, "--json"])
    rows: list[dict[str, float]] = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    return rows


def test_a_move_is_measured_at_every_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Games by bots, and of the repeats the one that cost the server least."""
    busy = replace(RUN, server=ServerTime(0.6, 0.2, 0.2))
    runs = iter([busy, RUN] * 4)
    monkeypatch.setattr(curves, "measure_arbitration", lambda _: next(runs))
    words = ["--only", "move", "--games", "4,8", "--bots", "2,3", "--repeat", "2"]
    rows = results(capsys, *words)
    assert [(row["games"], row["bots"]) for row in rows] == [(4, 2), (4, 3), (8, 2), (8, 3)]
    assert all(row["server_us"] == 50 for row in rows)
    assert (rows[0]["loop_us"], rows[0]["writer_us"]) == (30, 10)
    assert (rows[0]["moves_per_message"], rows[0]["moves_per_second"]) == (20, 10_000)


def test_a_look_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the connected bots, of the repeats the least."""
    monkeypatch.setattr(curves, "LOOKS", 3)
    rows = results(capsys, "--only", "look", "--connected", "4,40", "--repeat", "2")
    assert [row["connected"] for row in rows] == [4, 40]
    assert all(set(row) == {"connected", "running", "ended_us", "joined_us"} for row in rows)
    assert all(min(row.values()) > 0 for row in rows)


def test_bots_come_in_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In crowds of several processes, first as new ones and then with known names."""
    monkeypatch.setattr(curves, "CROWD", 2)
    (row,) = results(capsys, "--only", "hello", "--hellos", "3")
    assert (row["hellos"], row["refused"]) == (3, 0)
    assert row["new_us"] > 0
    assert row["known_us"] > 0


def test_a_refresh_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """By the stored games, without the steps behind the last that is shown."""
    (row,) = results(capsys, "--only", "refresh", "--stored", "60")
    assert (row["stored_games"], row["bots"]) == (60, 10)
    steps = ("nothing_new", "new_game", "256_new_games", "cold_start", "first_run")
    assert set(row) == {"stored_games", "bots", *(f"{step}_cpu_seconds" for step in steps)}


def test_an_unknown_curve_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    with pytest.raises(SystemExit):
        main(["--only", "move,stars"])
    assert "no curve 'stars'; there are move, look, hello, refresh" in capsys.readouterr().err
