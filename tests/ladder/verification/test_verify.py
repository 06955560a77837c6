"""Whether a published run is what its games say."""

from typing import Any

import pytest
from sqlalchemy import update
from tests.store.league import BLACK, DRAW, NOON, WHITE, League

from meijin.game import Ending, Party
from meijin.ladder.algorithms.registry import ALGORITHMS, UnknownAlgorithmError
from meijin.ladder.rating_table import ALGORITHM
from meijin.ladder.refresh import refresh
from meijin.ladder.verification.verify import verify
from meijin.store.errors import NoRunError, RowNotFoundError, UnknownLadderError
from meijin.store.faults import VoidEvidence
from meijin.store.schema import Fault, LadderId, RatingRunId


def publish(league: League, games: int = 60, seed: int = 1) -> RatingRunId:
    """Play games, some of them twice, and publish their run."""
    league.finish_random(games, seed, lines=3)
    refresh(league.database, league.ladder_id, lambda: NOON)
    run = league.standings().run
    assert run is not None
    return run.id


def differences(league: League, run_id: RatingRunId | None = None) -> tuple[str, ...]:
    return verify(league.database, league.ladder_id, run_id).differences


def tamper(league: League, change: Any) -> None:
    league.database.write(lambda connection: connection.execute(change))


@pytest.mark.parametrize("anchors", [(), (0, 3)])
def test_an_honest_run_stands(any_league: League, anchors: tuple[int, ...]) -> None:
    """With repeats, forfeits and anchors."""
    any_league.set_anchors(*anchors)
    any_league.finish((0, 1, BLACK), (2, 3, WHITE), forfeit=True)
    run_id = publish(any_league)
    found = verify(any_league.database, any_league.ladder_id)
    assert (found.ladder, found.differences) == ("freestyle-15x15", ())
    assert found.run.id == run_id
    assert found.run.repeats > 0


def test_an_earlier_run_stands_too(league: League) -> None:
    """With the anchors that it had and the games up to its cut-off, whatever came since."""
    league.set_anchors(1)
    first = publish(league)
    league.set_anchors(2, 4)
    second = publish(league, seed=2)
    league.finish_random(20, seed=3, lines=3)
    assert first != second
    assert differences(league, first) == differences(league, second) == ()


def test_a_wrong_mark_of_a_repeat_is_found(league: League) -> None:
    """A run that left out a game for no reason, and one that counted a game twice."""
    league.finish((0, 1, BLACK), (0, 1, WHITE))
    league.change_game(2, is_repeat=True)
    publish(league)
    found = [each.partition(" kept")[0] for each in differences(league)]
    pair = "freestyle-15x15-bot-0 1.0 against freestyle-15x15-bot-1 1.0 on one opening"
    assert found[:3] == [
        "game 1000002: repeat",
        f"games of 2026-01-01: {pair}: W-D-L",
        "games",
    ]


def test_a_run_stands_though_its_games_were_voided(any_league: League) -> None:
    """It counted what counted then, and says how many games were voided since."""
    old = publish(any_league)
    any_league.void(3)
    newer = publish(any_league, seed=2)
    any_league.void(7)
    any_league.void(70)
    for run_id, voided_since in ((old, 3), (newer, 2), (publish(any_league, seed=3), 0)):
        found = verify(any_league.database, any_league.ladder_id, run_id)
        assert (found.differences, found.voided_since) == ((), voided_since)


def test_a_void_that_was_tampered_with_is_found(league: League) -> None:
    """What the game was before is in its fault."""
    league.finish((0, 1, BLACK))
    publish(league)
    league.void(1)
    evidence = VoidEvidence("a test", DRAW, Ending.DRAW, Party.NOBODY, "")
    tamper(league, update(Fault).values(evidence=evidence.to_json()))
    assert any(each.startswith("line of freestyle") for each in differences(league))


def test_a_run_of_another_release_is_refused(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers can't be computed again."""
    run_id = publish(league)
    monkeypatch.delitem(ALGORITHMS, ALGORITHM)
    with pytest.raises(UnknownAlgorithmError, match=f"run {run_id} was computed by rao-kupper"):
        verify(league.database, league.ladder_id)


def test_a_ladder_without_a_run_has_nothing(league: League) -> None:
    """Nor has an unknown ladder, nor an unknown run."""
    with pytest.raises(NoRunError, match="has no run yet"):
        verify(league.database, league.ladder_id)
    with pytest.raises(RowNotFoundError):
        verify(league.database, league.ladder_id, RatingRunId(9))
    with pytest.raises(UnknownLadderError):
        verify(league.database, LadderId(9))
