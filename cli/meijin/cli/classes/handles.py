"""Handles: names of bots, in ASCII, from names of people in any script."""

import re
import unicodedata
from collections.abc import Container, Iterator
from itertools import chain, count

MAX_LENGTH = 32
"""Characters, so that a number fits behind them."""
FEWEST_LETTERS = 2
"""A name of which less is left in ASCII has a number for a handle."""

_LATIN = "æ=ae œ=oe ø=o ł=l đ=d ð=d þ=th ı=i ħ=h ŋ=ng ə=e ŧ=t ’= '="  # noqa: RUF001 - what is meant
_CYRILLIC = (
    "а=a б=b в=v г=g д=d е=e ж=zh з=z и=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts "  # noqa: RUF001
    "ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya і=i є=ye ґ=g ј=j љ=lj њ=nj ћ=c ђ=dj џ=dz"  # noqa: RUF001
)
_GREEK = (
    "α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f "  # noqa: RUF001
    "χ=ch ψ=ps ω=o"
)
_PAIRS = f"{_LATIN} {_CYRILLIC} {_GREEK}"
LETTERS = dict(pair.split("=") for pair in _PAIRS.split())
"""Small letters that are no ASCII letter with marks, and what stands for them."""


def handle_of(name: str, number: int, taken: Container[str]) -> str:
    """A free name for the bot of a student.

    Args:
        name: What the student is called.
        number: The place in the class, for a name of which nothing is left in ASCII.
        taken: Names that can't be given.
    """
    base = _ascii(name)
    if sum(each.isalpha() for each in base) < FEWEST_LETTERS:
        names: Iterator[str] = (f"student-{each:02}" for each in count(number))
    else:
        names = chain([base], (f"{base}-{each}" for each in count(2)))
    return next(each for each in names if each not in taken)


def _ascii(name: str) -> str:
    """A name in small ASCII letters, with hyphens between its parts."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    letters = (LETTERS.get(each, each) for each in apart if not unicodedata.combining(each))
    parts = re.findall("[a-z0-9]+", "".join(letters))
    return "-".join(parts)[:MAX_LENGTH].strip("-")
