"""Receivers of webhooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.webhooks.receivers import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().running() as receiver:
        yield receiver
