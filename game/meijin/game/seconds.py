"""Durations written as decimal seconds, exact to the microsecond."""

import re
from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
"""Of a unit."""
_PARTS = {"ms": 1000}
"""Of a second."""
_FORM = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?")


def format_seconds(duration: timedelta) -> str:
    """Write a duration of zero or more as ``60``, ``0.5`` or ``0.000001``."""
    whole, micros = divmod(duration // MICROSECOND, 1_000_000)
    return f"{whole}.{micros:06d}".rstrip("0").rstrip(".")


def parse_seconds(text: str) -> timedelta:
    """Read what `format_seconds` writes; zeros at the end may stay.

    Raises:
        ValueError: the text is no number of seconds, or finer than a microsecond.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(f'"{text}" is no number of seconds; write it like "60" or "0.5"')
    return timedelta(seconds=int(form[1]), microseconds=int((form[2] or "").ljust(6, "0")))


def parse_duration(text: str) -> timedelta:
    """Read a number of seconds, or one with its unit: ``60``, ``60s``, ``1.5m``, ``500ms``.

    Raises:
        ValueError: the text is no duration, or finer than a microsecond.
    """
    number = text.rstrip("mhs")
    unit = text[len(number) :]
    duration = parse_seconds(number)
    try:
        return duration * _SECONDS[unit] if unit in _SECONDS else duration // _PARTS[unit]
    except OverflowError:
        raise ValueError(f'"{text}" is longer than a duration may be') from None
