"""A researcher's day, as real processes: a test by nodes, its dataset, and the same figures."""

from pathlib import Path

import researcher

GAMES = 40
NODES = (20, 60)
LAST_LEAVES = 10
"""What a search may overshoot its nodes by."""


def test_a_dataset_has_the_printed_figures(tmp_path: Path) -> None:
    """And what each version thought, within its nodes."""
    day = researcher.spend_day(tmp_path, GAMES, NODES)
    assert day.worked_out == day.printed
    found = day.printed
    assert found.wins + found.draws + found.losses == day.games == GAMES
    assert sum(found.pairs) == GAMES / 2
    assert day.analysed == day.moves > GAMES
    for most, nodes in zip(day.most_nodes, NODES, strict=True):
        assert nodes / 2 < most <= nodes + LAST_LEAVES
