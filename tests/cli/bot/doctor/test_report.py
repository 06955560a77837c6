from xml.etree import ElementTree as ET

from meijin.cli.bot.doctor.report import WIDTH, as_json, as_junit, lines_of, summary
from meijin.local.doctor.check import Check, Status, has_passed

PASSED = Check("version 1", name="hello", seconds=0.5)
WARNED = Check("slow", "be faster", Status.WARN, name="connects")
SKIPPED = Check("one at once", status=Status.SKIP, name="games at once")
FAILED = Check(
    "lost \x1b[31m & <why>\x00",
    "mend \ud800 it",
    Status.FAIL,
    ("one\x07", "two"),
    "first game",
    1.25,
)
CHECKS = (PASSED, WARNED, SKIPPED, FAILED)


def test_lines_fit_and_have_no_control_characters() -> None:
    """Long reasons and fixes go on below themselves; evidence stands as it was said."""
    evidence = ("\x1bout",)
    lines = list(lines_of(Check("word " * 40 + "\x1b[2J", "fix " * 40, Status.FAIL, evidence, "a")))
    assert lines[0].startswith("FAIL  a                 word word")
    assert all(len(line) <= WIDTH and line.isprintable() for line in lines)
    assert lines[-1].endswith("out")


def test_passed_is_what_has_not_failed() -> None:
    assert has_passed((PASSED, WARNED, SKIPPED))
    assert not has_passed(CHECKS)
    assert not has_passed((SKIPPED,))
    assert summary("ada", (PASSED, WARNED)) == "ada may play: 1 passed, 1 with a warning, in 0 s"
    assert summary("ada", CHECKS).startswith("ada has failed: 1 passed, 1 failed")


def test_json() -> None:
    found = as_json("ada", CHECKS)
    assert found["passed"] is False
    assert [check["status"] for check in found["checks"]] == ["pass", "warn", "skip", "fail"]
    assert found["checks"][1] == {
        "name": "connects",
        "status": "warn",
        "reason": "slow",
        "fix": "be faster",
        "evidence": (),
        "seconds": 0.0,
    }


def test_junit() -> None:
    """What XML can't hold is replaced."""
    suite = ET.fromstring(as_junit("a\x00b", CHECKS)).find("testsuite")
    assert suite is not None
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")]
    assert counts == ["4", "1", "0", "1", "1.750"]
    cases = {case.get("name"): case for case in suite}
    assert cases["connects"].findtext("system-out") == "slow\nbe faster"
    assert cases["games at once"].find("skipped") is not None
    failed = cases["first game"]
    failure = failed.find("failure")
    assert failure is not None
    assert failed.get("time") == "1.250"
    assert failure.get("message") == "lost \ufffd[31m & <why>\ufffd"
    assert failure.text == "fix: mend \ufffd it\none\ufffd\ntwo"
