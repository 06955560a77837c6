"""`meijin analyse`: what it prints, and where."""

import json
import subprocess
from pathlib import Path

from tests.system.processes import MEIJIN

POSITIONS = "h8i9\nh8h8\n" + json.dumps({"position": "h8", "id": "mine"}) + "\n"


def analyse(*words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    command = [*MEIJIN, "analyse", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_positions_are_searched(tmp_path: Path) -> None:
    """Bad lines are named with their file and left out; the rest comes in order."""
    file = tmp_path / "positions.pos"
    file.write_text(POSITIONS)
    done = analyse(str(file), "--nodes=500", "--threads=2")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["place"], first["position"]) == ("line 1", "h8i9")
    assert (second["place"], second["position"], second["id"]) == ("line 3", "h8", "mine")
    for found in (first, second):
        assert found["variant"] == "freestyle 15x15"
        assert found["best_move"] == found["pv"][0]
        assert found["depth"] > 0
        assert 0 < found["nodes"] <= 510
        assert found["seconds"] > 0
    assert done.stderr == f"{file}:2: h8 is occupied\n{file}: left out 1 of what was asked\n"
    assert done.returncode == 0


def test_a_bad_line_may_be_an_error() -> None:
    """With --strict; what was found before is written."""
    done = analyse("-", "--bot=random", "--option=seed=1", "--strict", text=POSITIONS)
    assert done.stderr == "meijin: standard input:2: h8 is occupied\n"
    assert done.returncode == 1
    (found,) = map(json.loads, done.stdout.splitlines())
    assert found["best_move"]
    assert [found[name] for name in ("score", "depth", "nodes", "pv")] == [None] * 4


def test_what_can_not_be_is_told_in_one_line() -> None:
    """Before a bot is loaded where that is not needed."""
    for words, told in (
        (["nowhere.pos"], "can't use nowhere.pos: No such file or directory"),
        (["-", "--bot=nobody"], 'no bot "nobody"'),
        (["-", "--bot=random", "--nodes=5"], 'random has no option "nodes"'),
        (["-", "--time=soon"], '"soon"'),
    ):
        done = analyse(*words)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert told in done.stderr


def test_answers_come_one_by_one() -> None:
    """A program may ask, wait for the answer, and ask again."""
    command = [*MEIJIN, "analyse", "-", "--bot=random"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for position in ("h8", "h8i9"):
            process.stdin.write(f"{position}\n")
            assert json.loads(process.stdout.readline())["position"] == position
        process.stdin.close()
        assert process.wait() == 0
