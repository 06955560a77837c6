"""Calibration of ladders: what favourites were told to score, and what they scored."""

from datetime import timedelta

from sqlalchemy import Connection

from meijin.ladder.statistics.diagnosis.calibration import BINS, EVEN
from meijin.ladder.statistics.elo import wilson_interval
from meijin.store.ladders.days import CalibrationBin, calibration, last_foretold_day
from meijin.store.ladders.ladders import get_ladder, ladder_row
from meijin.store.schema import LadderId
from meijin.v1 import ladder_service_pb2 as pb

RECENT = timedelta(days=30)
"""Whose games a table sums up."""


def calibration_of(connection: Connection, ladder: str) -> pb.GetCalibrationResponse:
    """All games of a ladder that were foretold, by what was told.

    Raises:
        UnknownLadderError: no ladder has the name.
    """
    ladder_id = get_ladder(connection, ladder)
    days, bins = calibration(connection, ladder_id)
    width = (1 - EVEN) / BINS
    return pb.GetCalibrationResponse(
        ladder=ladder_row(connection, ladder_id).name,
        first_day=days[0].isoformat() if days else "",
        last_day=days[-1].isoformat() if days else "",
        days=len(days),
        bins=[_bin(each, EVEN + each.bin * width, EVEN + (each.bin + 1) * width) for each in bins],
    )


def recent_calibration(connection: Connection, ladder_id: LadderId) -> pb.CalibrationBin | None:
    """The games of the last days that were foretold, all in one; ``None`` where there are none."""
    last = last_foretold_day(connection, ladder_id)
    if last is None:
        return None
    _, bins = calibration(connection, ladder_id, last - RECENT + timedelta(days=1))
    sums = (sum(getattr(each, name) for each in bins) for name in ("games", "expected", "points"))
    return _bin(CalibrationBin(0, *sums), EVEN, 1.0)


def _bin(found: CalibrationBin, low: float, high: float) -> pb.CalibrationBin:
    score_low, score_high = wilson_interval(found.points, found.games)
    return pb.CalibrationBin(
        low=low,
        high=high,
        games=found.games,
        expected_score=found.expected / found.games,
        score=found.points / found.games,
        score_low=score_low,
        score_high=score_high,
    )
