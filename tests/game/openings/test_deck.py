"""In which order a test is dealt its openings."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from meijin.game import GOMOKU, TIC_TAC_TOE, Variant, decode_moves, encode_moves, openings_for
from meijin.game.board.symmetry import position_key
from meijin.game.openings.book import generated_openings
from meijin.game.openings.deck import OpeningDeck

SMALL = Variant(width=5, height=5)


def keys(openings: list[bytes], variant: Variant) -> set[object]:
    return {position_key(decode_moves(opening), variant) for opening in openings}


@pytest.mark.parametrize("variant", [GOMOKU, TIC_TAC_TOE, SMALL], ids=str)
def test_everything_is_dealt_before_an_opening_comes_again(variant: Variant) -> None:
    """First the server's own, then the generated ones, then the images of both."""
    deck = OpeningDeck.of(variant, ())
    base, generated = len(openings_for(variant)), len(generated_openings(variant))
    everything = base + generated + len(deck.images)
    dealt = list(islice(deck.deal(3, {}), 2 * everything))
    once, again = dealt[:everything], dealt[everything:]
    assert len(set(once)) == everything
    assert sorted(once) == sorted(again)
    assert once != again
    own = {encode_moves(opening) for opening in openings_for(variant)}
    assert set(once[:base]) == set(again[:base]) == own
    assert len(keys(once[: base + generated], variant)) == base + generated
    assert keys(once, variant) == keys(once[: base + generated], variant)


def test_given_openings_come_with_their_images_alone() -> None:
    """One that is the image of another, or leads to its position, is dealt among the images."""
    given = [encode_moves(moves) for moves in ((0,), (4,), (1, 2, 3), (3, 2, 1))]
    deck = OpeningDeck.of(SMALL, given)
    assert deck.base == (given[0], given[2])
    assert deck.generated == ()
    assert len(deck.images) == 3 + 3
    assert given[1] in deck.images


def test_the_seed_gives_the_order() -> None:
    """That of the first openings is what it was when there were no others."""
    deck = OpeningDeck.of(GOMOKU, ())
    first, same, other = (list(islice(deck.deal(seed, {}), 60)) for seed in (3, 3, 4))
    assert first == same != other
    assert list(islice(OpeningDeck(deck.base).deal(3, {}), 40)) == first[:40]


def test_dealing_goes_on_where_it_stopped() -> None:
    """Also after more was dealt of some openings than of others, as earlier releases did."""
    deck = OpeningDeck.of(SMALL, ())
    whole = list(islice(deck.deal(5, {}), 30))
    for dealt in (0, 1, 12, 30):
        assert list(islice(deck.deal(5, Counter(whole[:dealt])), 30 - dealt)) == whole[dealt:]
    dealt_often = {deck.base[0]: 3}
    found = list(islice(deck.deal(5, dealt_often), 3 * (len(deck.generated) + len(deck.images))))
    assert deck.base[0] not in found
