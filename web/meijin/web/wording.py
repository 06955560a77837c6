"""Wording: every text that people read, by its key, from the files in ``strings``.

A key names its file and its place there: ``ladders.title`` is ``title`` in ``ladders.toml``. What
depends on values has these in braces, as `str.format` takes them. What depends on a count is a
table with the texts `one` and `other`, and has the count as ``n``.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "strings"


@cache
def wording() -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        texts.update(_flat(path.stem, table))
    return texts


def text(key: str, **values: object) -> str:
    """A text for people; what it holds of others is escaped where it is shown.

    Raises:
        KeyError: there is none, or a value that it needs is missing.
    """
    texts = wording()
    if key not in texts and "n" in values:
        key += ".one" if values["n"] == 1 else ".other"
    form = texts[key]
    return form.format_map(values) if values else form


def _flat(prefix: str, table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, str):
            yield f"{prefix}.{name}", value
        else:
            assert isinstance(value, Mapping), f"{prefix}.{name} is no text"
            yield from _flat(f"{prefix}.{name}", value)
