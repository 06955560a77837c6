"""The centre of the scale: who weighs in the mean that is shown as 1500."""

from collections.abc import Mapping
from datetime import date

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Integers

ACTIVE_DAYS = 30
"""A version is active that played a rated game so many days (UTC) before the newest, or later."""

Mask = NDArray[np.bool_]


def is_active(players: Integers, last_days: Mapping[int, date] | None) -> Mask:
    """Who has played of late; everybody where nobody tells the days; shape (n,).

    Args:
        last_days: The day of everyone's last rated game.
    """
    if last_days is None or not players.size:
        return np.ones(len(players), dtype=bool)
    days = np.array([last_days[player].toordinal() for player in players.tolist()])
    active: Mask = days >= days.max() - ACTIVE_DAYS
    return active


def centre(lineage: Lineage, *, linked: Mask, established: Mask, active: Mask) -> Mask:
    """Who weighs in the mean: the newest of each bot's versions that are all three; shape (n,).

    Where nobody is active too, the established do; where nobody is, all who are linked.
    """
    chosen = linked & established & active
    for fewer in (linked & established, linked):
        if chosen.any():
            break
        chosen = fewer
    return _newest(lineage, chosen)


def _newest(lineage: Lineage, chosen: Mask) -> Mask:
    """The last of the chosen versions of each bot, which its first version stands for."""
    founders = lineage.founders(len(chosen))
    last = np.full(len(chosen), -1)
    np.maximum.at(last, founders[chosen], np.flatnonzero(chosen))
    newest: Mask = np.isin(np.arange(len(chosen)), last)
    return newest
