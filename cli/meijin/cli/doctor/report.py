"""The report: the results of checks as lines for people, as JSON, and as JUnit's XML."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from meijin.cli.doctor.check import Check, Status, has_passed
from meijin.cli.output import printable

MARKS = {Status.PASS: "ok", Status.FAIL: "FAIL", Status.WARN: "warn", Status.SKIP: "skip"}
"""What a line begins with."""

COLORS = {Status.PASS: "green", Status.FAIL: "red", Status.WARN: "yellow", Status.SKIP: "dim"}
"""On a terminal, of that mark."""

WIDTH = 80
"""Characters of a line."""

_MARK = 6
_NAME = 18


def lines_of(check: Check) -> Iterator[str]:
    """What people read of a check: mark, name and reason, then the fix and the evidence."""
    head = f"{MARKS[check.status]:<{_MARK}}{check.name:<{_NAME}}"
    indent = " " * (_MARK + _NAME)
    yield from textwrap.wrap(
        head + printable(check.reason), WIDTH, subsequent_indent=indent, break_on_hyphens=False
    )
    if check.fix:
        fix = f"fix: {printable(check.fix)}"
        yield from textwrap.wrap(
            fix, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
    for line in check.evidence:
        yield f"{' ' * _MARK}| {printable(line)}"


def summary(bot: str, checks: Sequence[Check]) -> str:
    """The last line: whether the bot has passed, and how many checks came out how."""
    counts = Counter(check.status for check in checks)
    words = {
        Status.PASS: "passed",
        Status.FAIL: "failed",
        Status.WARN: "with a warning",
        Status.SKIP: "skipped",
    }
    told = ", ".join(f"{counts[status]} {words[status]}" for status in words if counts[status])
    seconds = sum(check.seconds for check in checks)
    verdict = "may play" if has_passed(checks) else "has failed"
    return f"{bot} {verdict}: {told or 'no checks'}, in {seconds:.0f} s"


def as_json(bot: str, checks: Sequence[Check]) -> dict[str, Any]:
    """The report as what JSON can hold."""
    return {
        "bot": bot,
        "passed": has_passed(checks),
        "checks": [
            {
                "name": check.name,
                "status": check.status.value,
                "reason": check.reason,
                "fix": check.fix,
                "evidence": list(check.evidence),
                "seconds": check.seconds,
            }
            for check in checks
        ],
    }


def as_junit(bot: str, checks: Sequence[Check]) -> bytes:
    """The report in the form of JUnit's XML that build servers read.

    A warning is a passed case whose output has it. What XML can't hold is replaced.
    """
    suite = ET.Element(
        "testsuite",
        name=f"meijin bot doctor: {_xml_text(bot)}",
        tests=str(len(checks)),
        failures=str(sum(check.status is Status.FAIL for check in checks)),
        errors="0",
        skipped=str(sum(check.status is Status.SKIP for check in checks)),
        time=f"{sum(check.seconds for check in checks):.3f}",
    )
    for check in checks:
        _add_case(suite, bot, check)
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: ET.Element, bot: str, check: Check) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_xml_text(bot),
        name=check.name,
        time=f"{check.seconds:.3f}",
    )
    reason = _xml_text(check.reason)
    if check.status is Status.SKIP:
        ET.SubElement(case, "skipped", message=reason)
    elif check.status is Status.FAIL:
        failure = ET.SubElement(case, "failure", message=reason)
        failure.text = _xml_text("\n".join((f"fix: {check.fix}", *check.evidence)))
    else:
        output = ET.SubElement(case, "system-out")
        output.text = "\n".join(map(_xml_text, filter(None, (check.reason, check.fix))))


def _xml_text(text: str) -> str:
    """Text without what XML 1.0 (section 2.2) has no characters for, nor what steers a screen."""
    return "\n".join(map(printable, text.split("\n")))
