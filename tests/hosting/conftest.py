"""A server for hosts and their doors, and what a program is stood in for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerInTest]:
    from tests.server_in_test import open_server

    from meijin.bots.sdk.runner import ignore_idle_wakeups
    from meijin.testing.settings import settings_in

    ignore_idle_wakeups()
    async with open_server(settings_in(tmp_path)) as opened:
        yield opened
