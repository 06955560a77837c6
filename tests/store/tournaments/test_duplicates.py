"""What games of a test repeat each other."""

from typing import Any

import pytest

from meijin.game import GOMOKU, Color, Ending, Outcome, Party, Variant
from meijin.game.board.symmetry import symmetries
from meijin.store.schema import BotVersionId
from meijin.store.tournaments.duplicates import symmetric_fingerprint

ADA, BOB, CLEO = map(BotVersionId, (1, 2, 3))
MOVES = (112, 113, 97, 98, 20)
FIVE = Outcome(Ending.FIVE, Color.BLACK)
TIME = Outcome(Ending.TIME, Color.BLACK, Party.WHITE)


def key(**changes: Any) -> int | None:
    game: dict[str, Any] = {
        "players": (ADA, BOB),
        "moves": MOVES,
        "outcome": FIVE,
        "opening_plies": 2,
        "variant": GOMOKU,
    }
    return symmetric_fingerprint(**game | changes)


def test_a_game_and_its_images_are_one() -> None:
    """On a square board eight."""
    found = {key(moves=[image[cell] for cell in MOVES]) for image in symmetries(GOMOKU)}
    assert found == {key()}
    assert isinstance(key(), int)


@pytest.mark.parametrize(
    "changes",
    [
        {"players": (BOB, ADA)},
        {"players": (ADA, CLEO)},
        {"moves": (*MOVES, 21)},
        {"moves": MOVES[:-1]},
        {"moves": (97, 113, 112, 98, 20)},
        {"outcome": TIME},
        {"outcome": Outcome(Ending.RESIGN, Color.BLACK)},
        {"outcome": Outcome(Ending.RESIGN, Color.WHITE)},
        {"opening_plies": 1},
    ],
)
def test_another_game_has_another(changes: dict[str, Any]) -> None:
    """Other players or colours, other moves, another end or another length of the opening."""
    assert key(**changes) not in {key(), None}


def test_a_game_without_a_move_repeats_none() -> None:
    assert key(opening_plies=5, outcome=TIME) is None
    assert key(opening_plies=4, outcome=TIME) is not None


def test_it_never_changes() -> None:
    """It is kept in databases, also on boards with fewer symmetries."""
    fits = key(variant=Variant(width=15, height=17), moves=MOVES)
    assert fits is not None
    assert -(2**63) <= fits < 2**63
    assert key() == 2399308187851731321
