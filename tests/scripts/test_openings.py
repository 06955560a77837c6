"""Whether openings are made as the book says: each once, balanced, and the same for a seed."""

from __future__ import annotations

from itertools import islice

import openings as script

from meijin.game import GOMOKU, openings_for
from meijin.game.board.symmetry import images_of, position_key
from meijin.game.openings.book import generated_openings
from meijin.game.openings.generated import GENERATED

SAMPLE = 40


def test_what_ships_is_what_the_script_makes() -> None:
    """The first of those drawn that a search calls balanced, and none that it does not."""
    shipped = generated_openings(GOMOKU)
    drawn = list(islice(script.drawn_openings(1), SAMPLE))
    passed = [opening for opening in drawn if script.is_balanced(opening)]
    assert 0 < len(passed) < SAMPLE
    assert passed == list(shipped[: len(passed)])


def test_the_module_is_written_as_it_is_read() -> None:
    text = script.module_text(list(generated_openings(GOMOKU)), seed=1)
    namespace: dict[str, str] = {}
    exec(text, namespace)
    assert namespace["GENERATED"] == GENERATED


def test_no_two_drawn_are_the_same() -> None:
    """Up to symmetry, nor is one of the forty among them; a seed gives the same ones."""
    drawn = list(islice(script.drawn_openings(2), 300))
    keys = {position_key(opening, GOMOKU) for opening in (*drawn, *openings_for(GOMOKU))}
    assert len(keys) == 340
    assert drawn == list(islice(script.drawn_openings(2), 300))
    assert not set(images_of(drawn[0], GOMOKU)) & set(drawn)
