"""Bots with one mistake each: the right check fails, with the right reason and fix."""

import sys
from collections.abc import Mapping
from datetime import timedelta

import pytest
from tests.bots.bridge.conftest import brain
from tests.cli.doctor.conftest import Examine

from meijin.cli.doctor import candidate, checks
from meijin.cli.doctor.check import Check, Status

AFTER_FIRST_GAME = ("rule freestyle", "games at once", "cut stream")


def failed(found: Mapping[str, Check]) -> set[str]:
    """The names of the checks that have failed."""
    return {name for name, check in found.items() if check.status is Status.FAIL}


def test_a_good_bot_passes_everything(examine: Examine) -> None:
    """Every check there is for it, in the order in which one hangs on another."""
    found = examine("Good", is_quick=False)
    assert {check.status for check in found.values()} == {Status.PASS}
    assert list(found) == [
        "connects",
        "hello",
        "first game",
        "rule freestyle",
        "fast clock",
        "games at once",
        "cut stream",
        "second start",
        "leaves",
    ]
    assert "4 games, 2 of them at once" in found["games at once"].reason


def test_a_bot_that_raises(examine: Examine) -> None:
    """Its first game fails with the end of the traceback, and nothing else is tried."""
    found = examine("Raises")
    assert failed(found) == {"first game"}
    check = found["first game"]
    assert "by a failure of its own: RuntimeError: no such table" in check.reason
    assert check.fix.startswith("mend the error")
    assert any("bad_bots.py" in line for line in check.evidence)
    assert {found[name].status for name in AFTER_FIRST_GAME} == {Status.SKIP}
    assert found["leaves"].status is Status.PASS


def test_a_bot_that_says_hello_and_dies(examine: Examine) -> None:
    """How its process ended is told, with its last words."""
    found = examine("Dies")
    assert failed(found) == {"first game"}
    check = found["first game"]
    assert check.reason == "its process has ended, exit status 3"
    assert check.evidence[-1] == "out of luck"


def test_a_bot_that_hangs(examine: Examine) -> None:
    """It loses on time, and still leaves when it is told to."""
    found = examine("Hangs")
    assert failed(found) == {"first game"}
    assert "by time" in found["first game"].reason
    assert "own_clock_ms" in found["first game"].fix


def test_claims_that_a_bot_can_not_keep(examine: Examine) -> None:
    """The rule and the opening rule that it claims are named in what to do."""
    found = examine("NoRenju")
    assert failed(found) == {"rule renju", "opening swap2"}
    assert found["rule renju"].fix.endswith("or claim no renju 15x15 games")
    assert "ValueError: what is renju?" in found["rule renju"].reason
    assert found["opening swap2"].fix.endswith("or claim no freestyle 15x15 swap2 games")


def test_each_mistake_is_found_for_itself(examine: Examine) -> None:
    """A size that it can't play, a clock that it overspends, a digest that changes."""
    found = examine("ThreeMistakes", is_quick=False)
    assert failed(found) == {"rule freestyle", "fast clock", "second start"}
    assert "freestyle 17x17" in found["rule freestyle"].reason
    assert "min_move_time" in found["fast clock"].fix
    assert "new version" in found["second start"].fix


def test_an_untidy_bot(examine: Examine) -> None:
    """To get ready in the first turn is warned of; a child left behind is named."""
    found = examine("Untidy")
    assert failed(found) == {"leaves"}
    assert found["first game"].status is Status.WARN
    assert "Bot.prepare" in found["first game"].fix
    assert found["leaves"].reason == "it left behind: sleep"


def test_a_wrapped_engine(examine: Examine) -> None:
    """Its bridge is the program that is examined, with the rules that it is told to claim."""
    wrap = ("-m", "meijin", "bot", "wrap", "--sizes=15", "--pause=0", "--rules=standard", "--")
    found = examine(command=[sys.executable, *wrap, *brain()])
    assert failed(found) == set()
    assert "plays standard on 15; digest" in found["hello"].reason
    assert found["leaves"].status is Status.PASS


def test_a_bot_that_ignores_sigterm(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed in the end."""
    monkeypatch.setattr(candidate, "STOP_TIMEOUT", timedelta(seconds=1))
    found = examine("Stays")
    assert failed(found) == {"leaves"}
    assert found["leaves"].reason == "it ran on 1 s after SIGTERM"


def test_an_illegal_move(examine: Examine) -> None:
    """What the SDK would not let out is judged by the server; no digest is warned of."""
    found = examine(mode="illegal")
    assert failed(found) == {"first game"}
    assert "by an illegal move" in found["first game"].reason
    assert "row * width + column" in found["first game"].fix
    assert found["hello"].status is Status.WARN
    assert "digest" in found["hello"].fix


def test_a_bot_that_does_not_return(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process lives, and its stream is not opened again."""
    monkeypatch.setattr(checks, "GRACE", timedelta(seconds=1))
    found = examine(mode="away")
    assert failed(found) == {"cut stream"}
    assert found["cut stream"].reason == "its stream was cut, and it was not back 1 s later"
    assert "resume_session_id" in found["cut stream"].fix


def test_a_bot_that_returns_confused(examine: Examine) -> None:
    """The game in which its stream was cut is lost."""
    found = examine(mode="wrong")
    assert failed(found) == {"cut stream"}
    assert "by an illegal move" in found["cut stream"].reason


def test_a_bot_that_never_connects(examine: Examine) -> None:
    """Nothing else is tried, and its process is ended."""
    found = examine("Missing", start=30)
    assert failed(found) == set(found) == {"connects"}
    assert "ended, exit status 1" in found["connects"].reason
    assert "no bot Missing" in found["connects"].evidence[-1]
