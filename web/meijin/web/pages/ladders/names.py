"""What a ladder's name says: its variant and its class of time controls."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

_FORM = re.compile(r"(?P<rule>.+?)-(?P<board>[0-9]+x[0-9]+.*)")
"""A variant as names have it, such as ``renju-15x15-swap2``."""


@dataclass(frozen=True, slots=True)
class LadderName:
    """A ladder's name and its parts."""

    name: str
    variant: str
    """Such as ``renju 15x15 swap2``."""
    rule: str
    """Such as ``renju``."""
    time_class: str
    """Such as ``blitz``."""

    @classmethod
    def parse(cls, name: str) -> Self:
        """The parts of a name; of one in another form, all of it is the variant."""
        variant, _, time_class = name.rpartition("-")
        form = _FORM.fullmatch(variant)
        rule = variant if form is None else form["rule"]
        return cls(name, variant.replace("-", " "), rule, time_class)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ladders beside one, and itself."""

    variants: Sequence[LadderName]
    """Of the same class, by their variants."""
    time_classes: Sequence[LadderName]
    """Of the same variant, by their classes."""

    @classmethod
    def of(cls, ladder: LadderName, names: Iterable[str]) -> Self:
        """Those among some names."""
        known = [LadderName.parse(name) for name in names]
        return cls(
            [each for each in known if each.time_class == ladder.time_class],
            [each for each in known if each.variant == ladder.variant],
        )
