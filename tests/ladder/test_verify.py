"""Whether a published run is what its games say."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import delete, update

from meijin.game import Ending, Party, Result
from meijin.ladder import verify as module
from meijin.ladder.rating_table import rate
from meijin.ladder.refresh import refresh
from meijin.ladder.verify import UnknownAlgorithmError, transcript, verify
from meijin.store.errors import NoRunError, UnknownLadderError, UnknownRunError
from meijin.store.schema import Fault, LadderId, Rating, RatingRun, RatingRunId
from meijin.store.void_evidence import VoidEvidence

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def publish(league: "League", games: int = 60, seed: int = 1) -> RatingRunId:
    """Play games, some of them twice, and publish their run."""
    league.finish_random(games, seed, lines=3)
    refresh(league.database, league.ladder_id, lambda: NOON)
    run = league.standings().run
    assert run is not None
    return run.id


def differences(league: "League", run_id: RatingRunId | None = None) -> tuple[str, ...]:
    """What is not as it should be."""
    return verify(league.database, league.ladder_id, run_id).differences


def tamper(league: "League", change: Any) -> None:
    """Change a row behind everybody's back."""
    league.database.write(lambda connection: connection.execute(change))


@pytest.mark.parametrize("anchors", [(), (0, 3)])
def test_an_honest_run_stands(any_league: "League", anchors: tuple[int, ...]) -> None:
    """With repeats, forfeits and anchors."""
    any_league.set_anchors(*anchors)
    any_league.finish((0, 1, BLACK), (2, 3, WHITE), forfeit=True)
    run_id = publish(any_league)
    found = verify(any_league.database, any_league.ladder_id)
    assert (found.ladder, found.differences) == ("freestyle-15x15", ())
    assert found.run.id == run_id
    assert found.run.repeats > 0


def test_games_played_since_change_nothing(any_league: "League") -> None:
    """A run is verified with the games up to its cut-off."""
    publish(any_league)
    any_league.finish_random(20, seed=2, lines=3)
    assert differences(any_league) == ()


def test_an_earlier_run_stands_too(league: "League") -> None:
    """With the anchors that it had."""
    league.set_anchors(1)
    first = publish(league)
    league.set_anchors(2, 4)
    second = publish(league, seed=2)
    assert first != second
    assert differences(league, first) == differences(league, second) == ()


@pytest.mark.parametrize(
    "values",
    [{"elo": Rating.elo + 0.0001}, {"margin": 0.0}, {"faults": 3}, {"is_linked": False}],
)
def test_a_changed_rating_is_found(league: "League", values: dict[str, Any]) -> None:
    """To the last digit that is kept."""
    run_id = publish(league)
    mine = (Rating.run_id == run_id, Rating.rank == 3)
    tamper(league, update(Rating).where(*mine).values(values))
    assert differences(league) == ("ratings",)


@pytest.mark.parametrize("flag", ["depends_on_opponents", "changes_over_time"])
def test_a_changed_mark_is_found(league: "League", flag: str) -> None:
    """Whoever is told of is told of by the games."""
    run_id = publish(league)
    mine = (Rating.run_id == run_id, Rating.rank == 3)
    tamper(league, update(Rating).where(*mine).values({flag: True}))
    assert differences(league) == ("ratings",)


def test_a_changed_diagnosis_is_found(league: "League") -> None:
    """Of the run as it was kept, which holds pairs, triples and drifts too."""
    run_id = publish(league)
    tamper(league, update(RatingRun).where(RatingRun.id == run_id).values(diagnosis=None))
    assert differences(league) == ("diagnosis",)


def test_a_rating_that_is_gone_is_found(league: "League") -> None:
    """A run has a line for everyone who has played."""
    run_id = publish(league)
    mine = (Rating.run_id == run_id, Rating.rank == 5)
    tamper(league, delete(Rating).where(*mine))
    assert differences(league) == ("ratings",)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"checksum": "0" * 64}, "checksum of the games"),
        ({"games": 1}, "number of games"),
        ({"repeats": 1}, "number of repeats"),
        ({"parameters": {"anchors": []}}, "parameters"),
    ],
)
def test_a_changed_run_is_found(league: "League", values: dict[str, Any], name: str) -> None:
    """Whatever it says of itself."""
    run_id = publish(league)
    tamper(league, update(RatingRun).where(RatingRun.id == run_id).values(values))
    assert differences(league) == (name,)


@pytest.mark.parametrize("values", [{"result": DRAW}, {"moves": b"\x01\x01"}])
def test_a_changed_game_is_found(league: "League", values: dict[str, Any]) -> None:
    """A result by the ratings, and the moves of a repeat by there being one less."""
    league.finish((0, 1, BLACK), (0, 1, BLACK), line=(7,))
    publish(league)
    league.change_game(2 if "moves" in values else 1, **values)
    found = differences(league)
    assert "checksum of the games" in found
    assert "ratings" in found


def test_a_wrong_mark_of_a_repeat_is_found(league: "League") -> None:
    """A run that left out a game for no reason, and one that counted a game twice."""
    league.finish((0, 1, BLACK), (0, 1, WHITE))
    league.change_game(2, is_repeat=True)
    publish(league)
    wrong = differences(league)
    assert wrong == (
        "checksum of the games",
        "number of games",
        "number of repeats",
        "parameters",
        "ratings",
        "diagnosis",
    )


def test_a_run_stands_though_its_games_were_voided(any_league: "League") -> None:
    """It counted what counted then, and says how many games were voided since."""
    old = publish(any_league)
    any_league.void(3)
    newer = publish(any_league, seed=2)
    any_league.void(7)
    any_league.void(70)
    for run_id, voided_since in ((old, 3), (newer, 2), (publish(any_league, seed=3), 0)):
        found = verify(any_league.database, any_league.ladder_id, run_id)
        assert (found.differences, found.voided_since) == ((), voided_since)


def test_a_void_that_was_tampered_with_is_found(league: "League") -> None:
    """What the game was before is in its fault."""
    league.finish((0, 1, BLACK))
    publish(league)
    league.void(1)
    evidence = VoidEvidence("a test", DRAW, Ending.DRAW, Party.NOBODY, "")
    tamper(league, update(Fault).values(evidence=evidence.to_json()))
    assert "ratings" in differences(league)


def test_a_run_of_another_release_is_refused(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers can't be computed again."""
    run_id = publish(league)
    monkeypatch.setattr(module, "ALGORITHM", "newer")
    with pytest.raises(UnknownAlgorithmError, match=f"run {run_id} was computed by rao-kupper"):
        verify(league.database, league.ladder_id)


def test_a_ladder_without_a_run_has_nothing(league: "League") -> None:
    """Nor has an unknown ladder, nor an unknown run."""
    with pytest.raises(NoRunError, match="has no run yet"):
        verify(league.database, league.ladder_id)
    with pytest.raises(UnknownRunError):
        verify(league.database, league.ladder_id, RatingRunId(9))
    with pytest.raises(UnknownLadderError):
        verify(league.database, LadderId(9))


def test_equal_ratings_alone_have_equal_transcripts(league: "League") -> None:
    """A transcript tells every field of every line, floats to the last bit."""
    league.finish_random(30)
    ratings = rate(league.snapshot(), NOON).ratings
    words = transcript(ratings)
    assert words == transcript(rate(league.snapshot(), NOON).ratings)
    assert words.count(b"\n") == 5
    league.finish((0, 1, DRAW))
    assert words != transcript(rate(league.snapshot(), NOON).ratings)
    assert transcript([]) == b""
