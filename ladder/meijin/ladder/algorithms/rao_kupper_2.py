"""The frozen algorithm `rao-kupper-2`."""

from dataclasses import fields
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from meijin.ladder.tally import Snapshot
from meijin.store.ladders.figures import Figures

REVISION = "1f158d98b312"
"""Of the files in the zip."""
_SOURCE = "meijin.ladder.algorithms.rao_kupper_2_source"


def figures(snapshot: Snapshot) -> Figures:
    """What it makes of a snapshot."""
    records = import_module(f"{_SOURCE}.records")
    counts = import_module(f"{_SOURCE}.statistics.fit.pair_counts").PairCounts
    names = [each.name for each in fields(records.VersionState)]
    given = SimpleNamespace(
        ladder=snapshot.ladder,
        checksum=snapshot.checksum,
        anchors=snapshot.anchors,
        parents=snapshot.parents,
        counts=counts(
            **{each.name: getattr(snapshot.counts, each.name) for each in fields(counts)}
        ),
        tally=SimpleNamespace(
            cutoff=snapshot.tally.cutoff,
            games=snapshot.tally.games,
            repeats=snapshot.tally.repeats,
            recent=snapshot.tally.recent,
            versions={
                version: records.VersionState(**{name: getattr(state, name) for name in names})
                for version, state in snapshot.tally.versions.items()
            },
        ),
    )
    run: Any = import_module(f"{_SOURCE}.rating_table").rate(given, None)
    return Figures.of(run)
