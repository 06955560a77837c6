"""Enums of our own and their mirrors in the contract."""

from collections.abc import Iterable
from enum import Enum
from typing import Protocol, TypeVar

_Member = TypeVar("_Member", bound=Enum)
_Value = TypeVar("_Value", bound=int)


class WireEnum(Protocol[_Value]):
    """An enum of the contract: its values are named with its own name in front."""

    def Name(self, number: _Value) -> str:  # noqa: N802 - protobuf's
        """The name of a value."""

    def Value(self, name: str) -> _Value:  # noqa: N802 - protobuf's
        """The value with a name."""

    def values(self) -> list[_Value]:
        """Every value, the zero that says nothing first."""


def enum_table(
    members: Iterable[_Member], mirror: WireEnum[_Value], *, absent: _Member | None = None
) -> dict[_Member, _Value]:
    """The value in `mirror` of each of `members`, found by its name.

    `absent` is the member that the contract writes as zero, ``..._UNSPECIFIED``.

    Raises:
        ValueError: the contract lacks a value.
    """
    zero = mirror.values()[0]
    prefix = mirror.Name(zero).removesuffix("UNSPECIFIED")
    return {
        member: zero if member is absent else mirror.Value(prefix + member.name)
        for member in members
    }
