"""The history of a ladder as it is verified: rated anew, and compared day by day."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from itertools import chain
from typing import Any

from meijin.ladder.history import rated_days, rules_of
from meijin.ladder.verification.figures import first_difference
from meijin.store.schema import BotVersionId, CalibrationDay, DayTally, RatingDay

_KEY = {"ladder_id", "day"}


def first_other_rating(
    kept: Sequence[DayTally],
    history: Iterable[RatingDay | CalibrationDay],
    anchors: Sequence[BotVersionId],
    parents: Mapping[int, int],
    names: Mapping[int, str],
) -> Iterator[str]:
    """The first rating of a day, or figure of its calibration, that is not what its games say.

    Of the days that are rated with today's anchors and algorithm; others are rated anew soon.

    Args:
        kept: The tallies of the days, which are those of their games.
    """
    known = {tally.day for tally in kept if tally.rated_with == rules_of(anchors)}
    late = {tally.day for tally in kept if tally.rated_with is not None} - known
    days = rated_days(kept, known, anchors, parents)
    computed = _by_day(chain.from_iterable((*made, *bins) for _, made, bins in days), names)
    stored = _by_day(history, names)
    for day in sorted({*stored, *computed} - late):
        rows = (each.get(day, {}) for each in (stored, computed))
        for found in first_difference(f"history of {day}", *rows):
            yield found
            return


def _by_day(
    history: Iterable[RatingDay | CalibrationDay], names: Mapping[int, str]
) -> dict[date, dict[str, Any]]:
    """Rows as JSON has them, by day and by what they are of."""
    found: dict[date, dict[str, Any]] = {}
    for each in history:
        if isinstance(each, RatingDay):
            place = names[each.version_id]
        else:
            place = f"calibration[{each.bin}]"
        row = {name: value for name, value in asdict(each).items() if name not in _KEY}
        found.setdefault(each.day, {})[place] = row
    return found
