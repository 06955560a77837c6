"""Openings, counted at once in the place of a worker."""

from meijin.ladder.opening_counter import OpeningCounter
from meijin.store import Database
from meijin.store.ladders.sequencer import sequence
from meijin.store.openings.games_to_count import NO_LADDER, ladders_to_count


def count_openings(database: Database) -> None:
    """Take ended games into their ladders' logs, and count until nothing is left, without rests."""
    for ladder_id in database.read(ladders_to_count):
        if ladder_id != NO_LADDER:
            sequence(database, ladder_id)
    counter = OpeningCounter(database, rest_factor=0)
    while counter.count():
        pass
