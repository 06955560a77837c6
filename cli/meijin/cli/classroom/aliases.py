"""Aliases: what bots are called where nobody is to know whose they are."""

import hmac
from collections.abc import Iterable
from hashlib import sha256
from itertools import product

COLOURS = (
    "amber azure black blue bronze brown copper coral crimson cyan golden green grey indigo ivory "
    "jade lilac lime olive orange pink purple red rose ruby silver teal violet white yellow"
)
ANIMALS = (
    "badger bear beaver bison camel cat cobra crane crow deer dolphin dove duck eagle falcon ferret "
    "fox frog gecko goat goose hare hawk hedgehog heron horse ibis jackal koala lemur lion lizard "
    "lynx mole moose mouse newt orca otter owl panda pike puma raven robin salmon seal shark sloth "
    "squid stork swan tiger toad trout turtle walrus whale wolf yak"
)
ALIASES = tuple(" ".join(each) for each in product(COLOURS.split(), ANIMALS.split()))


def aliases(secret: str, handles: Iterable[str]) -> dict[str, str]:
    """An alias for each bot, which only who knows the secret can tell back.

    Those of earlier bots stay the same when later ones are added.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for handle in handles:
        digest = hmac.new(secret.encode(), handle.encode(), sha256).digest()
        place = int.from_bytes(digest[:8])
        while (alias := ALIASES[place % len(ALIASES)]) in taken:
            place += 1
        taken.add(alias)
        found[handle] = alias
    return found
