"""Rules in the Gomocup protocol: the numbers of ``INFO rule``, and the commands of openings.

Source: the protocol's text (1 exactly five, 4 renju, 8 caro, as a sum of bits), the Gomocup's judge
for 9, and for swap and swap1 AlphaGomoku's extension of the protocol.
"""

from collections.abc import Mapping
from types import MappingProxyType

from meijin.game import RULES, Rule

RULE_NUMBERS: Mapping[str, int] = MappingProxyType(
    {"freestyle": 0, "standard": 1, "renju": 4, "caro": 8, "caro-exact": 9}
)
"""By the name of the rule."""

OPENING_COMMANDS: Mapping[str, str] = MappingProxyType(
    {"swap2": "SWAP2BOARD", "swap": "SWAPBOARD", "swap1": "SWAP1STBOARD"}
)
"""By the name of the opening rule."""


def rule_numbered(number: int) -> Rule | None:
    """The rule that ``INFO rule`` names, if there is one."""
    return next((RULES[name] for name, known in RULE_NUMBERS.items() if known == number), None)
