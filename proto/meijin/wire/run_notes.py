"""What a rating run found beside the ratings, in words: for pages and terminal."""

from meijin.v1 import ladder_service_pb2 as pb

NOTABLE_FACTOR = 1.05
"""Intervals that are this many times wider than for independent games are told of."""


def width_note(found: pb.Overdispersion) -> str:
    """How much wider intervals are than for independent games; empty where that is little.

    A cause is named where its own test is sure, and nowhere else.
    """
    if found.factor < NOTABLE_FACTOR:
        return ""
    causes = []
    if found.correlation_is_sure:
        causes.append(f"results of one opening hang together (correlation {found.correlation:.2f})")
    if found.pair_deviation_is_sure:
        causes.append(f"results depend on who meets whom (by {found.pair_deviation:.0f} Elo)")
    wider = f"intervals are {found.factor:.2f} times as wide as for independent games"
    return f"{wider}: {' and '.join(causes)}" if causes else f"{wider}, to be safe"
