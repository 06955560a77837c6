import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests.processes import MEIJIN

POSITIONS = "h8i9\nh8h8\n" + json.dumps({"position": "h8", "id": "mine"}) + "\n"
RANDOM = [*MEIJIN, "analyse", "-", "--bot=random"]


def analyse(*words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    command = [*MEIJIN, "analyse", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_positions_are_searched(tmp_path: Path) -> None:
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
    done = analyse("-", "--bot=random", "--option=seed=1", "--strict", text=POSITIONS)
    assert done.stderr == "meijin: standard input:2: h8 is occupied\n"
    assert done.returncode == 1
    (found,) = map(json.loads, done.stdout.splitlines())
    assert found["best_move"]
    assert [found[name] for name in ("score", "depth", "nodes", "pv")] == [None] * 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nowhere.pos", "can't use nowhere.pos: No such file or directory"),
        ("- --bot=nobody", 'no bot "nobody"'),
        ("- --bot=random --nodes=5", 'random has no option "nodes"'),
        ("- --time=soon", '"soon"'),
    ],
)
def test_what_can_not_be_is_told_in_one_line(words: str, told: str) -> None:
    done = analyse(*words.split())
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert told in done.stderr


def test_answers_come_one_by_one() -> None:
    with subprocess.Popen(
        RANDOM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for position in ("h8", "h8i9"):
            process.stdin.write(f"{position}\n")
            assert json.loads(process.stdout.readline())["position"] == position
        process.stdin.close()
        assert process.wait() == 0


def test_progress_is_shown_to_people() -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            RANDOM, input=b"h8\nh8i9\n", stdout=subprocess.PIPE, stderr=theirs, check=True
        )
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "positions" in shown
    assert "2/?" in shown
    assert len(done.stdout.splitlines()) == 2


def test_a_reader_may_leave() -> None:
    command = f"yes h8i9 | {' '.join(RANDOM)} | head -n 2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""
