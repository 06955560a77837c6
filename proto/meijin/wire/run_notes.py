"""What a rating run found beside the ratings, in words: for pages and terminal."""

from meijin.v1 import ladder_service_pb2 as pb

NOTABLE_FACTOR = 1.05
"""Intervals that are this many times wider than for independent games are told of."""
FEWEST_FORETOLD = 100
"""Games of which it is told how often chances came true."""
SPAN = 400.0
"""Between the two strengths whose draws are told, around those of most draws; Elo."""
OPENINGS = ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6))
"""Gauss and Hermite's nodes, in deviations, with their weights: right up to the fifth power."""


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


def draws_note(run: pb.RatingRun) -> str:
    """How draws depend on strength, where that is sure; else empty."""
    if not run.draw_slope_is_sure:
        return ""
    more = "more" if run.draw_slope > 0 else "less"
    said = (
        f"two rated {elo:.0f} draw {_draws_of_equals(run, elo):.1%} of their games"
        for elo in (run.draw_level - SPAN / 2, run.draw_level + SPAN / 2)
    )
    return f"stronger bots draw {more}: {', '.join(said)}"


def _draws_of_equals(run: pb.RatingRun, elo: float) -> float:
    """The chance of a draw between two of a rating, by Rao and Kupper, over all openings."""
    draws = run.draws * 10 ** (run.draw_slope * (elo - run.draw_level) / 400)
    chance = 0.0
    for deviations, weight in OPENINGS:
        lead = run.advantage + deviations * run.opening_deviation
        won, lost = (1 / (1 + 10 ** ((draws - each) / 400)) for each in (lead, -lead))
        chance += weight * (1 - won - lost)
    return chance


def foretold_note(found: pb.CalibrationBin) -> str:
    """How often stated chances came true of late; empty of few games."""
    if found.games < FEWEST_FORETOLD:
        return ""
    return (
        f"favourites were told {found.expected_score:.1%} of the points and got {found.score:.1%} "
        f"(95 % interval {found.score_low:.1%} to {found.score_high:.1%}) in {found.games:,} games "
        "of the last 30 days, told by those before each day"
    )
