"""A hundred thousand random message sequences, in processes of their own; failures name a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from tests.fuzz.play_stream import play_world, play_worlds
from tests.fuzz.world import ViolationError

from meijin.server.api import play
from meijin.server.match import wire
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.journal.store_commit import StoreCommit
from meijin.server.match.lobby import Lobby

SEQUENCES = int(os.environ.get("MEIJIN_FUZZ_SEQUENCES", "100000"))
SEED = int(os.environ.get("MEIJIN_FUZZ_SEED", "1"))


@pytest.mark.timeout(1200)  # a minute of two idle cores
def test_any_messages_leave_the_server_sound() -> None:
    """Documented ends, bounded answers, every game ended once as committed, nobody robbed."""
    report = play_worlds(SEED, SEQUENCES)
    print(f"seeds from {SEED}: {report}")
    assert report.sequences >= SEQUENCES
    assert set(report.games) >= {"five", "draw", "resign", "illegal", "crash", "disconnect"}
    assert set(report.streams) >= {"OK", "cut", "PROTOCOL", "INVALID_REQUEST", "REPLACED"}


def test_a_seed_says_everything() -> None:
    """The same seed is the same run; another one is another."""
    first, again, other = (play_world(seed, 60) for seed in (7, 7, 8))
    assert first == again
    assert first != other


async def _commits_nothing(*_: object) -> None:
    """Tell of it all the same."""


MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "undecodable messages are looked at": (play, "check_decoded", lambda _request: None),
    "news before the commit": (StoreCommit, "commit", _commits_nothing),
    "whoever leaves is still there": (Lobby, "leave", lambda *_: None),
    "the wrong side resigns": (Arbiter, "resign", lambda *_: None),
    "a hello may be anything": (wire, "MAX_LABEL", "many"),  # type: ignore[dict-item]
}
"""What is replaced, where, and by what."""


@pytest.mark.parametrize("name", MUTANTS)
def test_a_defect_is_found(name: str) -> None:
    """Without one of the server's guards something goes wrong within a few worlds."""
    owner, attribute, mutant = MUTANTS[name]
    with patch.object(owner, attribute, mutant), pytest.raises(ViolationError, match="seed 1,"):
        play_world(1)
