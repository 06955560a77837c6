"""`python -m meijin.bots`, by which an arena starts bots."""

from __future__ import annotations

import pytest

from meijin.bots.__main__ import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.py"], "meijin: no file nowhere.py; a new bot is written by `meijin bot new`"),
        (["alphabeta", "depth=deep"], 'meijin: "deep" is no int, as depth has to be'),
    ],
)
def test_bot_that_there_is_not_ends_it_with_a_line(words: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert str(ended.value).startswith(said)
