"""Enums of our own and their mirrors in the contract."""

from collections.abc import Iterable
from enum import Enum
from typing import Protocol, TypeVar

from google.protobuf.descriptor import EnumDescriptor

_Member = TypeVar("_Member", bound=Enum)
_Value = TypeVar("_Value", bound=int)


class WireEnum(Protocol[_Value]):
    """An enum of the contract: its values are named with its own name in front."""

    @property
    def DESCRIPTOR(self) -> EnumDescriptor:  # noqa: N802 - protobuf's
        """What is known of it."""

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
    zero, prefix = mirror.values()[0], name_prefix(mirror.DESCRIPTOR)
    return {
        member: zero if member is absent else mirror.Value(prefix + member.name)
        for member in members
    }


def value_of(mirror: WireEnum[_Value], member: Enum) -> _Value:
    """The value in `mirror` that has a member's name."""
    return mirror.Value(name_prefix(mirror.DESCRIPTOR) + member.name)


def word_of(mirror: WireEnum[_Value], value: _Value) -> str:
    """A value as people read it, such as ``not yet tried``; empty where nothing is said."""
    if value == mirror.values()[0]:
        return ""
    return mirror.Name(value).removeprefix(name_prefix(mirror.DESCRIPTOR)).lower().replace("_", " ")


def value_name(kind: EnumDescriptor, word: str) -> str:
    """The name in the contract of a value that is a member's name, or a word such as ``round-robin``."""
    return name_prefix(kind) + word.upper().replace("-", "_")


def name_prefix(kind: EnumDescriptor) -> str:
    """What the names of an enum's values have in front."""
    return kind.values_by_number[0].name.removesuffix("UNSPECIFIED")
