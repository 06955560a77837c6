"""A ladder that is published while games run, at a small size."""

import json

import pytest
from refreshing import main


def test_a_ladder_is_published_beside_games(capsys: pytest.CaptureFixture[str]) -> None:
    """Its run has the games that were stored, and what the two bots have played since."""
    main(["--stored", "60", "--bots", "10", "--runs", "1", "--json"])
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert row["stored_games"] == 60
    assert row["longest_turn_ms"] > 0
    assert row["games"] >= 0
