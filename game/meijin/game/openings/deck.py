"""The opening deck of a test or a tuning: nothing comes again before all there is was dealt."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Self

from meijin.game.board.moves import decode_moves, encode_moves
from meijin.game.board.symmetry import PositionKey, images_of, position_key
from meijin.game.openings.balanced import openings_for
from meijin.game.openings.book import generated_openings
from meijin.game.rules.variant import Variant


@dataclass(frozen=True, slots=True)
class OpeningDeck:
    """Openings in the groups in which they are dealt, each of two bytes a cell."""

    base: Sequence[bytes]
    """Those that were given, or the server's own."""
    generated: Sequence[bytes] = ()
    images: Sequence[bytes] = ()
    """Mirror images of both: other openings for bots that don't play them mirrored."""

    @classmethod
    def of(cls, variant: Variant, given: Sequence[bytes]) -> Self:
        """The deck of a variant; with openings of its own, these and their images alone."""
        generated = () if given else generated_openings(variant)
        base = _distinct([decode_moves(each) for each in given] or openings_for(variant), variant)
        images = (image for each in (*base, *generated) for image in images_of(each, variant))
        return cls(*(tuple(map(encode_moves, group)) for group in (base, generated, images)))

    def deal(self, seed: int, dealt: Mapping[bytes, int]) -> Iterator[bytes]:
        """Openings without end: group after group, each in an order that the seed gives.

        Args:
            dealt: How often each was dealt before; the others catch up with it.
        """
        rng = random.Random(seed)  # noqa: S311 - a schedule is no secret
        before = Counter(dealt)
        for times in count():
            for group in (self.base, self.generated, self.images):
                for opening in rng.sample(group, len(group)):
                    if before[opening] <= times:
                        yield opening


def _distinct(openings: Sequence[Sequence[int]], variant: Variant) -> Sequence[Sequence[int]]:
    """The first of those that are the same up to symmetry; the others are images of it."""
    found: dict[PositionKey, Sequence[int]] = {}
    for opening in openings:
        found.setdefault(position_key(opening, variant), opening)
    return tuple(found.values())
