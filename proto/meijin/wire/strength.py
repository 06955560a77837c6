"""Bands of strength, as people write them."""

from enum import StrEnum
from typing import Self

from meijin.v1 import opening_service_pb2 as pb

_PREFIX = "STRENGTH_BAND_"


class Strength(StrEnum):
    """A band of ratings, in Elo; the lower end belongs to it."""

    UNRATED = "unrated"
    BELOW_1200 = "below-1200"
    FROM_1200 = "1200-1400"
    FROM_1400 = "1400-1600"
    FROM_1600 = "1600-1800"
    FROM_1800 = "1800-up"

    @classmethod
    def from_proto(cls, band: pb.StrengthBand.ValueType) -> Self:
        """The band that is the contract's.

        Raises:
            KeyError: it is none, or one of a later release.
        """
        return cls[pb.StrengthBand.Name(band).removeprefix(_PREFIX)]

    def to_proto(self) -> pb.StrengthBand.ValueType:
        """The contract's."""
        return pb.StrengthBand.Value(_PREFIX + self.name)
