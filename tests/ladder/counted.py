"""Openings, counted at once in the place of a worker."""

from meijin.ladder.opening_counter import OpeningCounter
from meijin.store import Database


def count_openings(database: Database) -> None:
    """Count until nothing is left, without rests."""
    counter = OpeningCounter(database, rest_factor=0)
    while counter.count():
        pass
