"""Variants: a known program with other options, on other hardware or at another speed."""

from sqlalchemy import Connection

from meijin.store.access import versions
from meijin.store.access.versions import Arrived, EngineRow, set_deviation
from meijin.store.bots import version_row
from meijin.store.schema import DEVIATION, BotVersion
from meijin.wire.text import memory_text, rate_text

KINDS = {
    "configuration": "options",
    "hardware": "hardware",
    "threads": "hardware",
    "memory_bytes": "hardware",
    "nodes_per_second": "speed",
}
"""What fields in which a program differs are called together."""


def tell(
    connection: Connection, bot: str, engine: EngineRow, arrived: Arrived, *, is_over: bool
) -> str:
    """What a bot's owner is told of the version that it plays as; empty where nothing is new.

    How it is unlike a version that it has to be is kept with that.

    Args:
        is_over: Its class's deadline is.
    """
    version, other = arrived.version, arrived.unlike
    if other is None:
        return ""
    differing = engine.differing(other)
    kinds = " and ".join(dict.fromkeys(KINDS[field] for field in differing))
    unlike = ", ".join(_difference(engine, other, field) for field in differing)
    label = f'version "{version_row(connection, version.id).name}"'
    if version is not other:
        known = f'version "{version_row(connection, other.id).name}"'
        return f'"{bot}" plays as {label}, rated by itself: other {kinds} than {known} ({unlike})'
    set_deviation(connection, version, unlike[:DEVIATION])
    why = "the deadline of its class is over"
    if not is_over:
        limits = f"{versions.MAX_VARIANTS_A_DAY} new versions in a day or {versions.MAX_VERSIONS:,}"
        why = f"a bot with {limits} in all gets none for that"
    return f'"{bot}" still plays as {label} with other {kinds} ({unlike}): {why}'


def _difference(engine: EngineRow, version: BotVersion, field: str) -> str:
    """Such as ``16 instead of 4 threads``."""
    unit = {"threads": " threads", "nodes_per_second": " nodes/s"}.get(field, "")
    return f"{_said(engine, field)} instead of {_said(version, field)}{unit}"


def _said(row: EngineRow | BotVersion, field: str) -> str:
    match field:
        case "configuration":
            return " ".join(row.configuration) or "no options"
        case "memory_bytes":
            return memory_text(row.memory_bytes or 0)
        case "nodes_per_second":
            return rate_text(row.nodes_per_second)
        case _:
            return str(getattr(row, field))
