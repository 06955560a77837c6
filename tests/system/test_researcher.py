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
    assert day.analysed > day.moves / 2
    for most, nodes in zip(day.most_nodes, NODES, strict=True):
        assert nodes / 2 < most <= nodes + LAST_LEAVES


def game(key: int, moves: str, winner: str, *, is_first: bool) -> dict[str, object]:
    """A row of a game whose first move is its opening, with black or white for "a"."""
    black, white = ("a", "b") if is_first else ("b", "a")
    columns = {"game_id": key, "moves": moves, "winner": winner, "opening_plies": 1}
    return {**columns, "black": black, "white": white}


def test_pairs_are_told_by_their_openings() -> None:
    """Points are the first version's, whichever colour it has; a lone game is no pair."""
    rows = [
        game(7, "h8i9", "black", is_first=True),
        game(8, "h8a1b1", "white", is_first=False),
        game(3, "h10i9", "draw", is_first=True),
        game(4, "h10a1", "black", is_first=False),
        game(5, "h11a1", "white", is_first=True),
        game(6, "h11a2", "", is_first=False),
        game(9, "h8i9", "black", is_first=True),
    ]
    found = researcher.worked_out(rows, "a")
    assert (found.losses, found.draws, found.wins) == (2, 1, 2)
    assert found.pairs == (0, 1, 0, 0, 1)
