"""Violations: what ends a world, since it may never be."""


class Violation(Exception):  # noqa: N818 - what it is called everywhere else
    """Something has happened that never may."""


def require(condition: object, words: str) -> None:
    if not condition:
        raise Violation(words)
