"""A program that is to be hosted is examined for what the arena can't do in its place."""

import shlex
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.local.doctor.conftest import Examine, command_of

from meijin.local.doctor import process_candidate
from meijin.local.doctor.arena import DoctorArena, register
from meijin.local.doctor.check import Check, Status, has_passed
from meijin.local.doctor.hosted import HostedExamination, HostedReport, examine_hosted
from meijin.local.doctor.process_candidate import ProcessCandidate

PASS, FAIL, WARN, SKIP = Status.PASS, Status.FAIL, Status.WARN, Status.SKIP
GAMES = ("rule freestyle", "games at once", "cut stream", "second start", "against random")
"""What hangs on the first games."""
BOT = """
import random
from meijin.bots import Bot, run

class Ada(Bot):
    version = "1.2"
    configuration = {"depth": "3"}

    def choose(self, position):
        return random.choice(position.legal_cells())

if __name__ == "__main__":
    run(Ada())
"""


def failed(found: Mapping[str, Check]) -> Mapping[str, str]:
    """What has failed, with its reason, its fix and the evidence."""
    return {
        name: "\n".join((check.reason, check.fix, *check.evidence))
        for name, check in found.items()
        if check.status is FAIL
    }


def examined(path: Path, name: str) -> tuple[HostedReport, list[Check]]:
    """What the examination of a file has found, and what was told on the way."""
    told: list[Check] = []
    report = examine_hosted(
        ProcessCandidate([sys.executable, str(path)]), name=name, told=told.append
    )
    return report, told


def test_a_bot_of_a_file(tmp_path: Path) -> None:
    """It is admitted, whatever its name is, and what it has said of itself is known."""
    path = tmp_path / "bot.py"
    path.write_text(BOT, encoding="utf-8")
    report, told = examined(path, "random")
    assert report.has_passed, report.checks
    assert told == report.checks
    assert [check.name for check in told] == ["connects", "hello", "first game", *GAMES, "leaves"]
    assert report.hello is not None
    assert report.hello.label == "1.2"
    assert "depth=3" in report.hello.configuration
    assert report.hello.capabilities.max_size == 15


def test_a_file_that_is_no_bot(tmp_path: Path) -> None:
    """It is refused with its own last words, and has said nothing of itself."""
    path = tmp_path / "bot.py"
    path.write_text("raise ImportError('no module named tensor')", encoding="utf-8")
    report, told = examined(path, "ada")
    assert not report.has_passed
    assert report.hello is None
    (check,) = told
    assert "ended, exit status 1" in check.reason
    assert "ImportError: no module named tensor" in check.evidence


@pytest.mark.parametrize(
    ("bot", "name", "words"),
    [
        (
            {"command": [sys.executable, "-c", "import time; time.sleep(3600)"], "start": 1},
            "connects",
            ("it has not connected in 1 s", "a Unix socket"),
        ),
        ({"bot": "Slow"}, "connects", ("with at most 10 s",)),
        ({"bot": "Hangs"}, "first game", ("by time",)),
        ({"bot": "Raises"}, "first game", ("RuntimeError: no such table",)),
        ({"mode": "illegal"}, "first game", ("by an illegal move", "row * width + column")),
    ],
    ids=["never connects", "needs days", "hangs", "raises", "illegal"],
)
def test_a_mistake_is_found_once(
    examine: Examine, bot: dict[str, Any], name: str, words: tuple[str, ...]
) -> None:
    """What hangs on the first games is not tried without them."""
    found = examine(**bot, kind=HostedExamination)
    ((at, text),) = failed(found).items()
    assert at == name
    assert all(word in text for word in words), text
    assert name == "connects" or {found[each].status for each in GAMES} == {SKIP}


def test_what_the_relay_does_is_not_asked_of_the_program(examine: Examine) -> None:
    """It says no digest, and would play wrong where it came back by itself."""
    found = examine(mode="wrong", kind=HostedExamination)
    skipped = {"games at once": SKIP, "cut stream": SKIP}
    names = ("connects", "hello", "first game", *GAMES, "leaves")
    assert {name: check.status for name, check in found.items()} == {
        name: skipped.get(name, PASS) for name in names
    }
    assert "digest" not in found["hello"].reason


def test_a_program_that_does_not_end_is_warned(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended with its sandbox, so that nothing hangs on it."""
    monkeypatch.setattr(process_candidate, "STOP_TIMEOUT", timedelta(seconds=1))
    found = examine("Stays", kind=HostedExamination)
    assert found["leaves"].status is WARN
    assert has_passed(list(found.values()))


def test_a_program_that_starts_once_is_refused(examine: Examine, tmp_path: Path) -> None:
    """It is started whenever a game wants it."""
    mark = shlex.quote(str(tmp_path / "mark"))
    start = shlex.join(command_of("Good"))
    script = f"test -e {mark} && exit 7; touch {mark}; exec {start}"
    found = examine(command=["sh", "-c", script], kind=HostedExamination)
    assert "ended, exit status 7" in failed(found)["second start"]


def test_long_games_are_played_to_their_end(examine: Examine) -> None:
    """What fails late is found, where the examiner would have resigned."""
    found = examine("Late", kind=HostedExamination)
    assert list(failed(found)) == ["against random"]
    assert "RuntimeError: out of memory" in failed(found)["against random"]


def test_an_author_of_an_engine_is_told_in_its_terms(examine: Examine) -> None:
    """The program is the bridge, and what is to be mended is the engine."""
    found = examine(mode="illegal", kind=partial(HostedExamination, wraps_engine=True))
    assert 'answer "x,y" of an empty point' in failed(found)["first game"]


def test_no_game_goes_on_beyond_the_limit(arena: DoctorArena) -> None:
    """However long the program claims to need for a move."""
    arena.candidate = ProcessCandidate(command_of("Patient"))
    arena.name = "patient"
    arena.token = register(arena.connection, arena.name)

    def tell(check: Check) -> None:
        if check.name == "hello":
            examination._deadline = time.monotonic() + 0.5

    limits = timedelta(minutes=1), timedelta(minutes=3)
    examination = HostedExamination(arena, *limits, is_quick=True, tell=tell)
    try:
        found = {check.name: check for check in examination.run()}
    finally:
        arena.candidate.stop()
    assert "all 180 s are used up" in failed(found)["first game"]
    assert "a lower min_move_time" in found["first game"].fix
