"""Bands of strength, as people write them."""

from meijin.v1 import opening_service_pb2 as pb
from meijin.wire.strength import Strength


def test_every_band_has_a_word() -> None:
    """The contract's, but for what says nothing, there and back."""
    bands = [band for band in pb.StrengthBand.values() if band]
    assert [Strength.from_proto(band).to_proto() for band in bands] == bands
    assert len(Strength) == len(bands)
