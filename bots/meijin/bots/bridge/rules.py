"""The numbers of rules in the Gomocup protocol's ``INFO rule``.

Source: the protocol's text (1 exactly five, 4 renju, 8 caro, as a sum of bits).
"""

from collections.abc import Mapping
from types import MappingProxyType

from meijin.game import RULES, Rule

_NUMBERS = {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8, "caro-exact": 9}

RULE_NUMBERS: Mapping[str, int] = MappingProxyType(
    {name: number for name, number in _NUMBERS.items() if name in RULES}
)
"""By the name of the rule; those alone that games are played by here."""


def rule_numbered(number: int) -> Rule | None:
    """The rule that ``INFO rule`` names, if there is one."""
    return next((RULES[name] for name, known in RULE_NUMBERS.items() if known == number), None)
