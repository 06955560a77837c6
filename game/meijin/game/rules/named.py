"""Every rule, by its name."""

from collections.abc import Mapping
from types import MappingProxyType

from meijin.game.rules.line_rule import CARO, CARO_EXACT, FREESTYLE, STANDARD
from meijin.game.rules.renju import RENJU
from meijin.game.rules.rule import Rule

_RULES: tuple[Rule, ...] = (FREESTYLE, STANDARD, RENJU, CARO, CARO_EXACT)

RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _RULES})
"""Every rule, by its name."""


def rule_named(name: str) -> Rule:
    """The rule called `name`.

    Raises:
        ValueError: there is none; the message lists the names there are.
    """
    if name not in RULES:
        raise ValueError(f'no rule "{name}"; the rules are {", ".join(RULES)}')
    return RULES[name]
