"""Who weighs in the mean that ratings are relative to."""

from datetime import date, timedelta

import numpy as np

from meijin.ladder.pool import ACTIVE_DAYS, centre, is_active
from meijin.ladder.statistics.fit.lineage import Lineage

NEWEST = date(2026, 7, 1)
CHAIN = Lineage(*np.array([(1, 0, 1), (3, 1, 2)]).T)
"""Versions 0, 1 and 3 are of one bot; 2 and 4 are bots of one version."""


def weighs(linked: str, established: str, active: str) -> list[int]:
    masks = [np.array([mark == "x" for mark in marks]) for marks in (linked, established, active)]
    found = centre(CHAIN, linked=masks[0], established=masks[1], active=masks[2])
    return np.flatnonzero(found).tolist()


def test_one_version_of_each_bot_weighs() -> None:
    """The newest that is linked, established and active."""
    assert weighs("xxxxx", "xxxxx", "xxxxx") == [2, 3, 4]
    assert weighs("xxxxx", "xxx.x", "xxxxx") == [1, 2, 4]
    assert weighs("xxxxx", "xxxxx", "x.x..") == [0, 2]
    assert weighs("x.x.x", "xxxxx", "xxxxx") == [0, 2, 4]


def test_where_nobody_is_active_and_established_the_others_weigh() -> None:
    """First those who are established, and then all who are linked."""
    assert weighs("xxxxx", "xx...", "..xxx") == [1]
    assert weighs("xxx..", ".....", "xxxxx") == [1, 2]
    assert weighs(".....", "xxxxx", "xxxxx") == []


def test_whoever_played_of_late_is_active() -> None:
    """Thirty days before the newest game, not before today."""
    ago = [0, 1, ACTIVE_DAYS, ACTIVE_DAYS + 1]
    last_days = {version: NEWEST - timedelta(days=days) for version, days in enumerate(ago)}
    assert is_active(np.arange(4), last_days).tolist() == [True, True, True, False]


def test_where_no_days_are_told_all_are_active() -> None:
    """As in a pool made up from counts; nobody is not missed."""
    assert is_active(np.array([1, 2]), None).all()
    assert is_active(np.empty(0, dtype=np.int64), {}).size == 0
