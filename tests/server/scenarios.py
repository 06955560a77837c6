"""Scenarios in words: a line says what each is to show, and those indented below it the steps."""

import re


def scenarios(text: str) -> list[tuple[str, str]]:
    """What each scenario is to show, and its steps in one line."""
    found = re.findall(r"^(\S.*)\n((?: +.*\n)+)", text, re.MULTILINE)
    return [(name, " ".join(steps.split())) for name, steps in found]
