"""Copied play: bots that choose the same moves far more often than their strength explains.

In each position that several bots have reached, a pair agrees with a chance that the others'
choices tell: a move that everybody plays is no evidence, and one that nobody else plays is much.
Over all positions that is a score test of whether the pair's odds of agreeing are those
(Cox and Snell 1989). Strong bots agree with each other more than that, and so do those of one
school: what a bot agrees more with everybody is taken off (a median polish, Tukey 1977), and
what is left is measured by its own spread, so that only pairs that stand out are reported. How
much of their play two have in common parts those of one school or source from copies. It is a
signal, and no proof: friends who have thought of the same may agree as copies do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from meijin.ladder.statistics.fit.covariance import normal_cdf
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask

FEWEST_BOTS = 5
"""Bots that have been in a position, the pair among them, before it says something of the pair."""
LEAST_INFORMATION = 4.0
"""A pair is compared when its agreements have at least this variance: some 20 positions."""
ALIKE_SHARE = 0.5
"""A pair is alike when it agrees in at least this share of what the others leave open: bots that
share half of their taste, as those do that were taught alike, agree in a third or so."""
COPIED_SHARE = 0.77
"""And copied from this share on: two bots that take four fifths of their taste from one public
source reached .76 at most in benchmarks/copied_bots.py."""
UNSEEN = 1.0
"""What choices count that nobody has made yet, in bots."""
POLISHING = 20
"""Rounds of the median polish; it settles in ten."""
PER_DEVIATION = 1.4826
"""A normal distribution's deviation in its median absolute deviations."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Who has played what where; one row a choice, all of shape (n,)."""

    positions: Integers
    """Numbers of positions."""
    bots: Integers
    """From 0 on."""
    moves: Integers
    """Any numbers, of which the same are the same move in that position."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in which a pair was compared."""

    position: int
    observed: float
    """How often the two agree there, 0 to 1."""
    expected: float
    """How often two others would."""


class Likeness(Enum):
    """How much of their play two bots have in common; the value says it to people."""

    ALIKE = "alike"
    """As bots of one school or one public source may be."""
    COPIED = "copied"
    """More than those are."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A pair that agrees more than its play explains."""

    first: int
    second: int
    positions: int
    """In which the two were compared."""
    observed: float
    """Agreements there."""
    expected: float
    """Agreements that others' choices explain."""
    share: float
    """Agreements of what others' choices leave open, up to 1 for a bot and itself."""
    score: float
    """Deviations above what the two agree with everybody."""
    p_value: float
    """The chance of one such pair or more in a class in which nobody has copied."""

    @property
    def likeness(self) -> Likeness:
        return Likeness.COPIED if self.share >= COPIED_SHARE else Likeness.ALIKE


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often each pair agrees; all of shape (bots, bots)."""

    positions: Integers
    observed: Floats
    expected: Floats
    variance: Floats

    @property
    def compared(self) -> Mask:
        """The pairs of which enough is known, each once."""
        return np.triu(self.variance >= LEAST_INFORMATION, k=1)


def agreement(choices: Choices, bots: int) -> Agreement:
    """How often each pair of bots agrees, and how often the others' choices say that it would."""
    shape = bots, bots
    positions = np.zeros(shape, dtype=np.int64)
    observed, expected, variance = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for _, present, shares in _positions(choices):
        agreed, chance = _chances(shares)
        cells = np.ix_(present, present)
        positions[cells] += 1
        observed[cells] += agreed
        expected[cells] += chance
        variance[cells] += chance * (1 - chance)
    return Agreement(positions, observed, expected, variance)


def signals(found: Agreement, risk: float) -> list[Signal]:
    """The pairs that stand out, those with the largest share first.

    Args:
        found: How often each pair agrees.
        risk: The chance to name anybody in a class in which nobody has copied.
    """
    compared = found.compared
    if not compared.any():
        return []
    excess = (found.observed - found.expected) / np.sqrt(np.maximum(found.variance, 1e-9))
    rest = _without_effects(excess, compared | compared.T)
    of_pairs = rest[compared]
    spread = PER_DEVIATION * float(np.median(np.abs(of_pairs - np.median(of_pairs))))
    scores = rest / max(spread, 1.0)
    p_values = np.minimum(len(of_pairs) * normal_cdf(-scores), 1.0)
    open_places = np.maximum(found.positions - found.expected, 1e-9)
    share = (found.observed - found.expected) / open_places
    made = [
        Signal(
            int(first),
            int(second),
            positions=int(found.positions[first, second]),
            observed=float(found.observed[first, second]),
            expected=float(found.expected[first, second]),
            share=float(share[first, second]),
            score=float(scores[first, second]),
            p_value=float(p_values[first, second]),
        )
        for first, second in np.argwhere(compared & (p_values <= risk) & (share >= ALIKE_SHARE))
    ]
    return sorted(made, key=lambda signal: -signal.share)


def evidence(choices: Choices, first: int, second: int) -> list[Place]:
    """The positions in which two bots agree, those that others play otherwise first."""
    places = []
    for position, present, shares in _positions(choices):
        if first in present and second in present:
            one, other = (int(np.flatnonzero(present == bot)[0]) for bot in (first, second))
            agreed, chance = _chances(shares)
            if agreed[one, other] > 0:
                place = Place(position, float(agreed[one, other]), float(chance[one, other]))
                places.append(place)
    return sorted(places, key=lambda place: place.expected)


def _positions(choices: Choices) -> Iterator[tuple[int, Integers, Floats]]:
    """Each position with enough bots: its number, who was there, and the shares of their moves."""
    order = np.argsort(choices.positions, kind="stable")
    ends = np.flatnonzero(np.diff(choices.positions[order])) + 1
    for rows in np.split(order, ends):
        present, bot = np.unique(choices.bots[rows], return_inverse=True)
        if len(present) < FEWEST_BOTS:
            continue
        moves, move = np.unique(choices.moves[rows], return_inverse=True)
        counts = np.zeros((len(present), len(moves)))
        np.add.at(counts, (bot, move), 1)
        yield int(choices.positions[rows[0]]), present, counts / counts.sum(axis=1, keepdims=True)


def _chances(shares: Floats) -> tuple[Floats, Floats]:
    """How often each two of those in a position agree, and how often others would with either."""
    bots, moves = shares.shape
    agreed: Floats = shares @ shares.T
    with_all = shares @ shares.sum(axis=0) - np.diag(agreed)
    with_others = (with_all[:, None] + with_all[None, :]) / 2 - agreed
    chance: Floats = (with_others + UNSEEN / (moves + 1)) / (bots - 2 + UNSEEN)
    return agreed, chance


def _without_effects(excess: Floats, compared: Mask) -> Floats:
    """What pairs agree more than each of the two agrees with everybody."""
    known = np.where(compared, excess, np.nan)
    present = compared.any(axis=1)
    effects = np.zeros(len(excess))
    for _ in range(POLISHING):
        medians = np.nanmedian((known - effects)[present], axis=1)
        effects[present] = (effects[present] + medians) / 2  # a whole step would swing
    return excess - effects[:, None] - effects[None, :]
