"""Mutations of bytes and texts, by a seeded random source."""

from __future__ import annotations

import random

ODD_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)
ODD_TEXT = (
    "",
    "\0",
    "\x1b[2J",
    "\u202e",
    "\U0001f600",
    "é" * 600,
    "[/x]",
    "'; --",
    "٣",
    "-1",
    "9" * 40,
)
MAX_REPEATS = 64


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes after one to four changes: flips, cuts, insertions, repeated slices."""
    result = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        _mutate(result, rng)
    return bytes(result)


def _mutate(data: bytearray, rng: random.Random) -> None:
    at = rng.randint(0, len(data))
    end = min(len(data), at + rng.randint(1, 8))
    kind = rng.randrange(6)
    if kind == 0 and data:
        data[at % len(data)] ^= 1 << rng.randrange(8)
    elif kind == 1 and data:
        data[at % len(data)] = rng.choice(ODD_BYTES)
    elif kind == 2:
        data[at:at] = rng.randbytes(rng.randint(1, 8))
    elif kind == 3:
        del data[at:end]
    elif kind == 4:
        data[at:at] = data[at:end] * rng.randint(1, MAX_REPEATS)
    else:
        del data[at:]


def mutated_text(text: str, rng: random.Random) -> str:
    """The text after one to four changes, of characters from itself and odd ones."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.randint(0, 6))
        source = rng.randint(0, len(text))
        inserted = rng.choice([*ODD_TEXT, text[source : source + rng.randint(1, 12)]])
        text = text[:at] + inserted + text[end:]
    return text
