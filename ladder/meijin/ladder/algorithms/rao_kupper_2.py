"""The frozen algorithm `rao-kupper-2`."""

from dataclasses import fields
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from meijin.ladder.tally import Snapshot
from meijin.store.ladders.figures import Figures
from meijin.store.ladders.games import FinishedGame

REVISION = "1f158d98b312"
"""Of the files in the zip."""
_SOURCE = "meijin.ladder.algorithms.rao_kupper_2_source"


def game_line(game: FinishedGame, day: int) -> str:
    """What its chain has of a game: nothing of the moves after the opening."""
    _, _, black, white, opening, points, fault, is_repeat, *_ = game
    return f"{black} {white} {opening} {points} {fault} {is_repeat:d} {day}\n"


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
