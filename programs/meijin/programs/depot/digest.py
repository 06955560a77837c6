"""Digests: the names that programs are kept under."""

import hashlib
import re
from collections.abc import Iterable, Iterator

from meijin.programs.errors import DamagedProgramError, DepotError

CHUNK_BYTES = 1 << 16
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def check_digest(text: str) -> str:
    """Return a digest that can be the name of a file.

    Raises:
        DepotError: it is none.
    """
    if not is_digest(text):
        raise DepotError(f'"{text[:80]}" is no digest; write SHA-256 as 64 digits of 0-9 and a-f')
    return text


def checked(chunks: Iterable[bytes], digest: str) -> Iterator[bytes]:
    """Pass chunks on, and see at their end that they were the digest's.

    Raises:
        DamagedProgramError: they were others.
    """
    found = hashlib.sha256()
    for chunk in chunks:
        found.update(chunk)
        yield chunk
    if found.hexdigest() != digest:
        text = f"the bytes kept as {digest} are others; delete it and have it uploaded again"
        raise DamagedProgramError(text)
