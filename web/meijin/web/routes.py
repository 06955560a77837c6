"""Routes: pages that many may see, those of one visitor, and forms."""

from dataclasses import dataclass
from datetime import timedelta

from meijin.web.visit import Handle, Show

FRESH = timedelta(seconds=2)
"""How old a page may be that many look at, unless its route says otherwise."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is the same for all who may see it, and kept for a moment."""

    path: str
    show: Show
    max_age: timedelta = FRESH


@dataclass(frozen=True, slots=True)
class Private:
    """A page that is one visitor's."""

    path: str
    handle: Handle


@dataclass(frozen=True, slots=True)
class Form:
    """What is sent by a form of ours."""

    path: str
    handle: Handle
