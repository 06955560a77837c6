"""The log's errors: what the product reports as an error, or as a lie, though none may be."""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

EXPECTED_ERRORS = {"the database fails; games wait"}

FALSE_CLAIM = "a bot claims moves that its opponent denies"
"""A warning, which no bot here gives reason for: they tell what they were told."""


class ErrorLog:
    """Keeps what is logged as an error; nothing is printed."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __call__(self, _logger: Any, name: str, event: MutableMapping[str, Any]) -> str:
        is_failure = name != "warning" or event["event"] == FALSE_CLAIM
        if is_failure and event["event"] not in EXPECTED_ERRORS:
            error = event.get("exc_info")
            self.events.append(f"{event['event']}: {event!r} {error!r}")
        raise structlog.DropEvent

    @contextmanager
    def listening(self) -> Iterator[None]:
        before = structlog.get_config()
        structlog.configure(
            processors=[self],
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            cache_logger_on_first_use=False,
        )
        try:
            yield
        finally:
            structlog.configure(**before)
