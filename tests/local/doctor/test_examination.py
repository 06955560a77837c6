import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.bots.bridge.conftest import brain
from tests.local.doctor.conftest import Examine

from meijin.local.doctor import examination, process_candidate
from meijin.local.doctor.check import Check, Status

FAIL, WARN = Status.FAIL, Status.WARN
WRAP = ("-m", "meijin", "bot", "wrap", "--sizes=15", "--pause=0", "--rules=standard", "--")
FAILURE = "by a failure of its own: RuntimeError: no such table"

Expected = dict[str, tuple[Any, ...]]
MISTAKES: list[tuple[dict[str, Any], Expected]] = [
    ({"bot": "Raises"}, {"first game": (FAIL, FAILURE, "mend the error", "bad_bots.py")}),
    ({"bot": "Dies"}, {"first game": (FAIL, "has ended, exit status 3", "out of luck")}),
    ({"bot": "Hangs"}, {"first game": (FAIL, "by time", "own_clock_ms")}),
    (
        {"bot": "NoRenju"},
        {
            "rule renju": (FAIL, "ValueError: what is renju?", "or claim no renju 15x15 games"),
            "opening swap2": (FAIL, "or claim no freestyle 15x15 swap2 games"),
        },
    ),
    (
        {"bot": "ThreeMistakes", "is_quick": False},
        {
            "rule freestyle": (FAIL, "freestyle 17x17"),
            "fast clock": (FAIL, "min_move_time"),
            "second start": (FAIL, "new version"),
        },
    ),
    (
        {"bot": "Untidy"},
        {"first game": (WARN, "Bot.prepare"), "leaves": (FAIL, "it left behind: sleep")},
    ),
    (
        {"mode": "illegal"},
        {
            "hello": (WARN, "digest"),
            "first game": (FAIL, "by an illegal move", "row * width + column"),
        },
    ),
    ({"mode": "wrong"}, {"hello": (WARN,), "cut stream": (FAIL, "by an illegal move")}),
    (
        {"bot": "Missing", "start": 30},
        {"connects": (FAIL, "ended, exit status 1", "no bot Missing")},
    ),
    ({"bot": "Slow"}, {"connects": (FAIL, "at most 86400 s", "min_move_time")}),
    ({"command": [sys.executable, *WRAP, *brain()]}, {}),
]


def check(found: Mapping[str, Check], expected: Expected) -> None:
    amiss = {name: each.status for name, each in found.items() if each.status in {FAIL, WARN}}
    assert amiss == {name: status for name, (status, *_) in expected.items()}
    for name, (_, *words) in expected.items():
        each = found[name]
        text = "\n".join((each.reason, each.fix, *each.evidence))
        assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("bot", "expected"), MISTAKES, ids=lambda each: "-".join(map(str, each.values()))[:12]
)
def test_the_right_check_fails_with_its_reason_and_fix(
    examine: Examine, bot: dict[str, Any], expected: Expected
) -> None:
    """What hangs on the first games is not tried without them."""
    found = examine(**bot)
    check(found, expected)
    if expected.get("first game", (WARN,))[0] is FAIL:
        names = ("rule freestyle", "games at once", "cut stream")
        assert {found[name].status for name in names} == {Status.SKIP}


def test_a_good_bot_passes_everything(examine: Examine) -> None:
    """Every check there is for it, in the order in which one hangs on another."""
    found = examine("Good", is_quick=False)
    assert {check.status for check in found.values()} == {Status.PASS}
    names = "connects, hello, first game, rule freestyle, fast clock, games at once, cut stream"
    assert list(found) == [*names.split(", "), "second start", "leaves"]
    assert "4 games, 2 of them at once" in found["games at once"].reason


def test_a_bot_that_ignores_sigterm(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_candidate, "STOP_TIMEOUT", timedelta(seconds=1))
    check(examine("Stays"), {"leaves": (FAIL, "it ran on 1 s after SIGTERM")})


def test_a_bot_that_does_not_return(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "GRACE", timedelta(seconds=1))
    lost = (FAIL, "its stream was cut, and it was not back 1 s later", "resume_session_id")
    check(examine(mode="away"), {"hello": (WARN,), "cut stream": lost})
