"""What a bot is tried at lies within what it claims and what there is."""

import pytest

from meijin.local.doctor.plan import first_variant, rule_variants
from meijin.wire.capabilities import Capabilities


def test_sizes_that_there_are_not_are_left_out() -> None:
    """A bot that claims any size is tried at the largest that there is."""
    claims = Capabilities(min_size=1, max_size=1000)
    sizes = [variant.size for variant in rule_variants(claims, claims.rules[0])]
    assert sizes == ["15x15", "5x5", "22x22", "15x13"]


@pytest.mark.parametrize(
    "claims",
    [
        Capabilities(min_size=3, max_size=4),
        Capabilities(min_size=40, max_size=50),
    ],
    ids=["too small", "too large"],
)
def test_claims_of_nothing(claims: Capabilities) -> None:
    """What claims nothing that is played is an error, not a game outside of its claims."""
    with pytest.raises(ValueError, match=r"claims no|out of range"):
        first_variant(claims)
