"""Close matches of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from meijin.store import Database, similar
from meijin.store.bots import get_bot
from meijin.store.errors import UnknownBotError

if TYPE_CHECKING:
    from tests.store.conftest import Scene


def test_a_close_name_is_asked_after(database: Database, scene: Scene) -> None:
    """Where it differs by a letter."""
    assert scene
    with pytest.raises(UnknownBotError, match=r'^no bot "adaa"; did you mean "ada"\?$'):
        database.read(lambda at: get_bot(at, "adaa"))


def test_what_is_no_name_is_compared_with_none(
    database: Database, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand characters take 20 ms, in which nothing else of the process runs."""
    assert scene
    monkeypatch.setattr(similar, "get_close_matches", None)
    with pytest.raises(UnknownBotError, match="list the bots to see their names"):
        database.read(lambda at: get_bot(at, "x" * 100_000))
