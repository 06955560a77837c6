"""Drafts: what a page is made of before anybody has written it."""

from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import Message

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Draft:
    """A page to be written: the messages that it shows, and how."""

    messages: tuple[Message, ...]
    """All that it is a function of, beside its address: the same, and it is not written again."""
    write: Callable[[], str | bytes]
    """Writes it, in a thread."""
    media_type: str = HTML
    filename: str = ""
    """What a browser keeps it as; empty for a page to look at."""
