"""Lineage of versions: what each came from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from meijin.store.schema import BotVersion, BotVersionId


class ParentOf(NamedTuple):
    """What a version came from."""

    version_id: BotVersionId
    parent_id: BotVersionId


def parents_of(connection: Connection, versions: Iterable[BotVersionId]) -> Sequence[ParentOf]:
    """The parents of some versions, and of those in turn, sorted.

    A version's parent never changes, so later versions change nothing of it.
    """
    query = select(BotVersion.id, BotVersion.parent_id).where(BotVersion.parent_id.is_not(None))
    parents = {child: parent for child, parent in connection.execute(query) if parent is not None}
    found: dict[BotVersionId, BotVersionId] = {}
    for version in versions:
        child = version
        while child in parents and child not in found:
            found[child] = parents[child]
            child = parents[child]
    return sorted(ParentOf(*link) for link in found.items())
