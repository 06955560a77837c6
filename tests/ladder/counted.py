"""Openings, counted at once in the place of a worker."""

from tests.store.stored import stored

from meijin.ladder.opening_counter import OpeningCounter
from meijin.store import Database
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import Ladder


def count_openings(database: Database) -> None:
    """Take ended games into their ladders' logs, and count until nothing is left, without rests."""
    for ladder_id in stored(database, Ladder.id):
        sequence(database, ladder_id)
    counter = OpeningCounter(database, rest_factor=0)
    while counter.count():
        pass
