"""`meijin tune`: an engine's option, whatever becomes of the command."""

import json
import signal
from pathlib import Path

import pytest
from tests.bots.bridge.conftest import brain
from tests.processes import Processes, eventually, processes_of

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")

ENGINE = " ".join(brain("Skilled"))
"""Best with a skill of 4; its games are the same whenever they are played."""
TERMS = ("--games=40", "--compare=60", "--seed=3", "--time=60/move", "--concurrency=2")


def pairs_of(folder: Path) -> list[tuple[int, float]]:
    """The results in the log of a tuning, in the order in which they were noted."""
    path = folder / "tuning.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    noted = [line["noted"] for line in map(json.loads, lines) if "noted" in line]
    return [(each["pair"], each["result"]) for each in noted]


@pytest.mark.parametrize(("method", "pairs"), [((), 4), (("--grid=9",), 24)], ids=["SPSA", "grid"])
def test_a_killed_tuning_goes_on_to_the_same_values(
    processes: Processes, method: tuple[str, ...], pairs: int
) -> None:
    """Killed while it searches, or compares; nothing is left running, and no pair is played twice.

    While it runs a second command is refused.
    """
    words = ("tune", ENGINE, "--param=skill=1..9", *TERMS, *method)
    whole = processes.ask(*words, "--data=whole")
    assert whole["parameters"][0]["value"] in {"3", "4", "5"}
    killed = processes.folder / "killed"
    tuning = processes.start("tuning", *words, "--data=killed")
    eventually(lambda: len(pairs_of(killed)) > 0)
    assert "another command is tuning in killed" in processes.refusal(*words, "--data=killed")
    eventually(lambda: len(pairs_of(killed)) >= pairs)
    assert tuning.stop(signal.SIGKILL) == -signal.SIGKILL
    before = pairs_of(killed)
    eventually(lambda: not processes_of(processes.folder))
    assert processes.ask(*words, "--data=killed") == whole
    after = pairs_of(killed)
    assert after[: len(before)] == before
    assert sorted(after) == sorted(pairs_of(processes.folder / "whole"))


def test_an_option_that_the_engine_does_not_have_is_refused(processes: Processes) -> None:
    """In one line with its own words, before any game."""
    done = processes.run("tune", ENGINE, "--param=width=1..9", "--data=data")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == (
        "meijin: the engine doesn't take width=1: it says 'MESSAGE Unknown Info Parameter: WIDTH'; "
        "logs: data\n"
    )
    assert pairs_of(processes.folder / "data") == []
    assert not processes_of(processes.folder)
