"""The arena beside local runners, in a short round."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import arbitration
import compare
import pytest
from compare import PIPE_RUNNER, LocalRunner, Window, local_runners, main, ratios


def test_everybody_plays_in_turns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The arena, our own runner, and one of the command line."""
    monkeypatch.setattr(arbitration, "WARM_UP", 0.3)
    monkeypatch.setattr(compare, "WARM_UP", 0.0)
    words = ["--bots", "2", "--games", "4", "--durability", "process", "--concurrency", "1"]
    other = f"{sys.executable} {PIPE_RUNNER} {{bot}} --games {{games}} --concurrency 1"
    main([*words, "--runner", other, "--seconds", "0.2", "--repeat", "1", "--json"])
    *rates, first, second = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert [row["who"] for row in rates] == ["arena, 2 bots", "pipes", "runner 1"]
    assert [row["games"] for row in rates] == [4, 1, 1]
    assert all(row["moves_per_second"] > 0 for row in rates)
    assert (first["over"], second["over"]) == ("pipes", "runner 1")
    assert first["ratio"] > 0


def test_words_of_a_command_are_filled_in(tmp_path: Path) -> None:
    """Whole or as a part; other braces are left alone."""
    given = "run -engine cmd={bot} -games {games} '{x}' -c {concurrency}"
    runners = local_runners(Namespace(runner=[given], concurrency=3), tmp_path / "engine")
    pipes, other = (runner.command for runner in runners)
    assert pipes[-1] == "3"
    assert other == [
        *("run", "-engine", f"cmd={tmp_path}/engine", "-games", "1000000"),
        *("{x}", "-c", "3"),
    ]


@pytest.mark.parametrize("script", ["print('no such rule')", "import time; time.sleep(60)"])
def test_a_runner_that_does_not_play_is_told(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """With its last line where it ended, or with what it may lack."""
    monkeypatch.setattr(compare, "START_TIME", 0.2)
    runner = LocalRunner("runner 1", [sys.executable, "-c", script], 2)
    with pytest.raises((RuntimeError, TimeoutError), match=r"no such rule|does it start \{bot\}"):
        runner.play(0.1)


def test_ratios_are_of_the_same_round() -> None:
    """And of processor time as well."""
    arena = compare.Arena(2, 64, "power")
    runner = LocalRunner("pipes", [], 2)
    for slow in (1, 10):
        arena.windows.append(Window(300, slow * 1.0, slow * 1.0))
        runner.windows.append(Window(100, slow * 1.0, slow * 0.5))
    (row,) = ratios([arena], [runner])
    assert (row["ratio"], row["ratio_low"], row["cpu_ratio"]) == (3, 3, 1.5)
