"""How checks came out: as lines for people, as JSON, and as JUnit's XML."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from meijin.cli.output import printable
from meijin.local.doctor.check import Check, Status, has_passed

SHOWN = {
    Status.PASS: ("ok", "green", "passed"),
    Status.FAIL: ("FAIL", "red", "failed"),
    Status.WARN: ("warn", "yellow", "with a warning"),
    Status.SKIP: ("skip", "dim", "skipped"),
}
"""What a line begins with, the colour of that on a terminal, and how checks are counted."""


WIDTH = 80
"""Characters of a line."""
_MARK, _NAME = 6, 18


def lines_of(check: Check) -> Iterator[str]:
    """What people read of a check: mark, name and reason, then the fix and the evidence."""
    indent = " " * (_MARK + _NAME)
    head = f"{SHOWN[check.status][0]:<{_MARK}}{check.name:<{_NAME}}"
    for start, text in ((head, check.reason), (indent, check.fix and f"fix: {check.fix}")):
        yield from textwrap.wrap(
            printable(text),
            WIDTH,
            initial_indent=start,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
    for line in check.evidence:
        yield f"{' ' * _MARK}| {printable(line)}"


def summary(bot: str, checks: Sequence[Check]) -> str:
    counts = Counter(check.status for check in checks)
    said = ", ".join(f"{counts[each]} {word}" for each, (*_, word) in SHOWN.items() if counts[each])
    verdict = "may play" if has_passed(checks) else "has failed"
    return f"{bot} {verdict}: {said or 'no checks'}, in {_seconds(checks):.0f} s"


def _seconds(checks: Sequence[Check]) -> float:
    return sum(check.seconds for check in checks)


def as_json(bot: str, checks: Sequence[Check]) -> dict[str, Any]:
    told = [asdict(check) | {"status": check.status.value} for check in checks]
    return {"bot": bot, "passed": has_passed(checks), "checks": told}


def as_junit(bot: str, checks: Sequence[Check]) -> bytes:
    """The report in the form of JUnit's XML that build servers read.

    A warning is a passed case whose output has it. What XML can't hold is replaced.
    """
    counts = Counter(check.status for check in checks)
    suites = ET.Element("testsuites")
    suite = ET.SubElement(
        suites,
        "testsuite",
        name=f"meijin bot doctor: {_xml_text(bot)}",
        tests=str(len(checks)),
        failures=str(counts[Status.FAIL]),
        errors="0",
        skipped=str(counts[Status.SKIP]),
        time=f"{_seconds(checks):.3f}",
    )
    for check in checks:
        _add_case(suite, bot, check)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: ET.Element, bot: str, check: Check) -> None:
    name, time = _xml_text(bot), f"{check.seconds:.3f}"
    case = ET.SubElement(suite, "testcase", classname=name, name=check.name, time=time)
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
