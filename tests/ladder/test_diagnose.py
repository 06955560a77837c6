"""What a run keeps of its diagnosis."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from meijin.game import Result
from meijin.ladder.diagnose import RunDiagnosis, by_blocks
from meijin.ladder.rating_table import rate
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import BotVersionId

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE = Result.BLACK_WINS, Result.WHITE_WINS


def run_of(league: "League") -> NewRun:
    """The run of the league's games now."""
    return rate(league.snapshot(), NOON)


def diagnosis_of(run: NewRun) -> RunDiagnosis:
    """As it is kept."""
    assert run.diagnosis is not None
    return RunDiagnosis.from_json(json.loads(json.dumps(run.diagnosis)))


def circle(league: "League", games: int = 30) -> None:
    """Three who beat each other, while the other two share their points with everyone."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        league.finish(*[(one, other, BLACK), (other, one, WHITE)] * games)
    for one in (3, 4):
        for other in range(one):
            league.finish(*[(one, other, BLACK), (other, one, BLACK)] * games)


def test_a_circle_is_kept_and_marked(league: "League") -> None:
    """With everyone in it, by their versions, in the order of their wins."""
    circle(league)
    run = run_of(league)
    found = diagnosis_of(run)
    triple, versions = found.triples[0], league.versions
    assert [triple.one, triple.other, triple.third] == versions[:3]
    assert triple.is_sure
    assert found.goodness.is_rejected
    assert found.goodness.overdispersion > 2
    marked = {each.version_id for each in run.ratings if each.line.depends_on_opponents}
    assert marked >= set(versions[:3])
    assert run.parameters["diagnosis"] == found.summary
    assert run.parameters["diagnosis"]["triples"] == 1


def test_whoever_changes_is_marked(league: "League") -> None:
    """One who loses first and wins at last, against all others."""
    lost = [(0, other, WHITE) for other in range(1, 5)] * 15
    won = [(0, other, BLACK) for other in range(1, 5)] * 15
    league.finish(*lost)
    league.finish(*won)
    run = run_of(league)
    drift = diagnosis_of(run).drifts[0]
    assert drift.version_id == league.versions[0]
    assert drift.is_sure
    assert drift.elo_per_100_games > 100
    marked = [each.version_id for each in run.ratings if each.line.changes_over_time]
    assert league.versions[0] in marked


def test_dice_are_not_marked(league: "League") -> None:
    """Games by lot."""
    league.finish_random(300)
    run = run_of(league)
    lines = [each.line for each in run.ratings]
    assert not any(line.depends_on_opponents or line.changes_over_time for line in lines)
    assert not run.parameters["diagnosis"]["is_rejected"]


def test_without_games_there_is_nothing_to_say(league: "League") -> None:
    """Nor is anything divided by 0."""
    found = diagnosis_of(run_of(league))
    assert (found.pairs, found.triples, found.drifts) == ((), (), ())
    assert (found.goodness.p_value, found.goodness.overdispersion) == (1.0, 1.0)


def test_games_are_counted_by_blocks() -> None:
    """In the order in which they ended, with their points."""
    one, other = BotVersionId(3), BotVersionId(5)
    games = [(one, other, 1.0)] * 64 + [(one, other, 0.5)] * 32 + [(other, one, 0.0)] * 32
    counts = by_blocks(games)
    assert counts.games == 128
    assert counts.openings is not None
    assert sorted(counts.openings.tolist()) == list(range(64))
    early = counts.openings < 32
    assert counts.wins[early].sum() == 64
    late = np.flatnonzero(counts.first == other)
    assert counts.losses[late].sum() == 32
    assert counts.openings[late].min() == 48
