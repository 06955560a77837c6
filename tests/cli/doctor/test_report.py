"""The report of an examination, as lines, JSON and JUnit's XML."""

from xml.etree import ElementTree as ET

from meijin.cli.doctor.check import Check, Status, has_passed
from meijin.cli.doctor.report import WIDTH, as_json, as_junit, lines_of, summary

PASSED = Check("hello", Status.PASS, "version 1", seconds=0.5)
WARNED = Check("connects", Status.WARN, "slow", "be faster")
SKIPPED = Check("games at once", Status.SKIP, "one at once")
FAILED = Check(
    "first game",
    Status.FAIL,
    "lost \x1b[31m & <why>\x00",
    "mend \ud800 it",
    ("one\x07", "two"),
    1.25,
)
CHECKS = (PASSED, WARNED, SKIPPED, FAILED)


def test_lines_fit_and_have_no_control_characters() -> None:
    """Long reasons and fixes go on below themselves; evidence stands as it was said."""
    check = Check("first game", Status.FAIL, "word " * 40 + "\x1b[2J", "fix " * 40, ("\x1bout",))
    lines = list(lines_of(check))
    assert lines[0].startswith("FAIL  first game        word word")
    assert all(len(line) <= WIDTH and line.isprintable() for line in lines)
    assert lines[-1].endswith("out")


def test_summary() -> None:
    """How many came out how, and in what time."""
    assert summary("ada", (PASSED, WARNED)) == "ada may play: 1 passed, 1 with a warning, in 0 s"
    assert summary("ada", CHECKS).startswith("ada has failed: 1 passed, 1 failed")


def test_passed_is_what_has_not_failed() -> None:
    """Nothing looked at is nothing passed."""
    assert has_passed((PASSED, WARNED, SKIPPED))
    assert not has_passed(CHECKS)
    assert not has_passed((SKIPPED,))


def test_json() -> None:
    """Every field of every check."""
    found = as_json("ada", CHECKS)
    assert found["passed"] is False
    assert [check["status"] for check in found["checks"]] == ["pass", "warn", "skip", "fail"]
    assert found["checks"][1] == {
        "name": "connects",
        "status": "warn",
        "reason": "slow",
        "fix": "be faster",
        "evidence": [],
        "seconds": 0.0,
    }


def test_junit_counts_and_reasons() -> None:
    """A build server reads which have failed and why; a warning is a passed case."""
    suite = ET.fromstring(as_junit("ada", CHECKS)).find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "0", "skipped": "1"}
    assert suite.get("time") == "1.750"
    cases = {case.get("name"): case for case in suite}
    assert cases["connects"].findtext("system-out") == "slow\nbe faster"
    assert cases["games at once"].find("skipped") is not None
    assert cases["first game"].get("time") == "1.250"


def test_junit_of_what_xml_can_not_hold() -> None:
    """Control characters and lone surrogates are replaced, and markup is escaped."""
    suite = ET.fromstring(as_junit("a\x00b", CHECKS)).find("testsuite")
    assert suite is not None
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert (
        failure.get("message")
        == "lost \N{REPLACEMENT CHARACTER}[31m & <why>\N{REPLACEMENT CHARACTER}"
    )
    assert (
        failure.text == "fix: mend \N{REPLACEMENT CHARACTER} it\none\N{REPLACEMENT CHARACTER}\ntwo"
    )
