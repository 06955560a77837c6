"""Many hellos at once, at a small size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import timed_turns
from hellos import main
from timed_turns import LongestTurn

WORKING = """
import asyncio, time

async def work():
    for seconds in (0.03, 0.01):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        await asyncio.sleep(0)

asyncio.run(work())
"""


def test_bots_come_in_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """As new ones and then with known names, beside games."""
    main(["--hellos", "3", "--games", "2", "--json"])
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert [(row["games"], row["bots"]) for row in rows] == [(2, "new"), (2, "known")]
    for row in rows:
        assert row["hellos"] == 3
        assert row["longest_turn_ms"] > 0
        assert row["server_us"] > 0


def test_another_process_tells_its_longest_turn(tmp_path: Path) -> None:
    """Whatever it was before."""
    (tmp_path / "working.py").write_text(WORKING)
    turn = LongestTurn(tmp_path / "longest")
    assert turn.ms == 0
    turn.words[0] = 10**12
    turn.begin()
    command = [sys.executable, timed_turns.__file__, str(tmp_path / "longest"), "working"]
    subprocess.run(command, check=True, env={"PYTHONPATH": str(tmp_path)})
    assert 30 <= turn.ms < 1000
