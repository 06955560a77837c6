"""What a ladder's name says: its variant and its class of time controls."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_FORM = re.compile(
    r"(?P<variant>(?P<rule>.+?)-[0-9]+x[0-9]+(?:-[a-z0-9-]+?)??)(?:-(?P<time_class>[a-z]+))?"
)
"""Such as ``renju-15x15-swap2-blitz``."""


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

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.variant, self.time_class)))

    @classmethod
    def parse(cls, name: str) -> Self:
        """The parts of a name; of one in another form, all of it is the variant."""
        form = _FORM.fullmatch(name)
        if form is None:
            return cls(name, name, "", "")
        variant = form["variant"].replace("-", " ")
        return cls(name, variant, form["rule"], form["time_class"] or "")

    def neighbours(self, names: Iterable[str]) -> dict[str, list["LadderName"]]:
        """Those among some names that have the same class, or the same variant."""
        known = [LadderName.parse(name) for name in names]
        return {
            "variants": [each for each in known if each.time_class == self.time_class],
            "time_classes": [each for each in known if each.variant == self.variant],
        }
