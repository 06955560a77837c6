"""The table of a ladder: what follows from a snapshot of its games."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest

from meijin.game import Result
from meijin.ladder.diagnose import RunDiagnosis, by_blocks
from meijin.ladder.rating_table import ALGORITHM, BASE, ESTABLISHED, Pool, rate
from meijin.ladder.statistics import elo
from meijin.ladder.statistics.fit.bradley_terry import Fit
from meijin.ladder.statistics.fit.covariance import Z_95, Covariance
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.pair_counts import PairCounts
from meijin.ladder.statistics.intervals.random_walk import STILL, RandomWalk
from meijin.ladder.statistics.intervals.robust import RobustCovariance, robust_covariance
from meijin.ladder.tally import Snapshot
from meijin.store.ladders.log import finished_games
from meijin.store.ladders.runs import Line, NewRun
from meijin.store.schema import BotVersionId

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def run_of(league: "League") -> NewRun:
    """The run of the league's games now."""
    return rate(league.snapshot(), NOON)


def lines_of(league: "League") -> list[Line]:
    """The line of each bot that has played, by its number."""
    lines = {rating.version_id: rating.line for rating in run_of(league).ratings}
    return [lines[version] for version in league.versions if version in lines]


def fit_of(snapshot: Snapshot) -> Fit:
    """A fit of the counted games, taken from their rows alone."""
    return fit_with_widths(snapshot.counts.pooled())


def results_of(league: "League") -> list[tuple[BotVersionId, BotVersionId, float]]:
    """The rated games in the order of their ends."""
    found = league.database.read(lambda at: [*finished_games(at, league.ladder_id, after=0)])
    return [(game.black_id, game.white_id, game.points / 2) for game in found if not game.is_repeat]


def robust_of(snapshot: Snapshot) -> RobustCovariance:
    """The robust covariance of that fit, with a walk of all its games."""
    known, recent = fit_of(snapshot), by_blocks(snapshot.recent)
    assert recent.openings is not None
    return robust_covariance(known, RandomWalk.of(known, recent, recent.openings))


def covariance_of(snapshot: Snapshot) -> Covariance:
    """The covariance alone."""
    return robust_of(snapshot).covariance


def meet(league: "League", one: int, other: int, *, games: int = 4) -> None:
    """Have two bots share the points of so many games, colours in turn."""
    pairs = [(one, other) if number % 2 else (other, one) for number in range(games)]
    league.finish(*((*pair, BLACK if n % 4 < 2 else WHITE) for n, pair in enumerate(pairs)))


# -- numbers ------------------------------------------------------------------------


def test_ratings_are_of_both_kinds(league: "League") -> None:
    """Elo is the fit around 1500, classic Elo the replay, both to four decimals."""
    league.finish_random(200)
    found = league.snapshot()
    fitted, classic = fit_of(found), elo.replay(results_of(league))
    lines = lines_of(league)
    assert [line.elo for line in lines] == np.round(BASE + fitted.elo, 4).tolist()
    assert [line.classic_elo for line in lines] == [
        round(classic[version], 4) for version in league.versions
    ]


def test_margins_are_those_of_the_covariance(league: "League") -> None:
    """Of everyone's difference from the mean of all, without anchors."""
    league.finish_random(200)
    variances = covariance_of(league.snapshot()).from_mean(np.full(5, 0.2))
    wanted = np.round(Z_95 * np.sqrt(variances), 4).tolist()
    assert [line.margin for line in lines_of(league)] == wanted
    assert all(20 < margin < 120 for margin in wanted)


def test_a_chance_is_that_to_lead_the_next_in_rank(league: "League") -> None:
    """Of two bots, both intervals together are that of the difference; the last leads nobody."""
    meet(league, 0, 1, games=40)
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE)] * 5)
    first, last = run_of(league).ratings
    assert last.line.superiority is None
    assert first.line.superiority is not None
    deviation = 2 * first.line.margin / Z_95
    difference = first.line.elo - last.line.elo
    wanted = NormalDist().cdf(difference / deviation)
    assert first.line.superiority == pytest.approx(wanted, abs=1e-4)


def test_a_line_counts_its_games_by_colour(league: "League") -> None:
    """Wins, draws and losses with black and with white; faults are the losses by forfeit."""
    league.finish((0, 1, BLACK), (1, 0, BLACK), (0, 1, DRAW), (1, 0, DRAW), (1, 0, WHITE))
    league.finish((0, 1, WHITE), forfeit=True)
    ours, other = lines_of(league)
    assert (ours.wins_as_black, ours.draws_as_black, ours.losses_as_black) == (1, 1, 1)
    assert (ours.wins_as_white, ours.draws_as_white, ours.losses_as_white) == (1, 1, 1)
    assert (other.wins_as_black, other.draws_as_black, other.losses_as_black) == (1, 1, 1)
    assert (other.wins_as_white, other.draws_as_white, other.losses_as_white) == (1, 1, 1)
    assert (ours.faults, other.faults) == (1, 0)


def test_opponents_are_averaged_over_the_games(league: "League") -> None:
    """Whoever is met twice counts twice."""
    league.finish((0, 1, BLACK), (0, 1, DRAW), (2, 0, BLACK))
    zero, one, two = lines_of(league)
    assert zero.opponents_elo == pytest.approx((2 * one.elo + two.elo) / 3, abs=2e-4)
    assert one.opponents_elo == zero.elo


def test_ranks_go_down_from_the_best(league: "League") -> None:
    """Equal ratings are ranked by age, so that ranks don't flicker."""
    league.finish((4, 3, BLACK), (3, 4, WHITE), (2, 1, DRAW), (1, 2, DRAW))
    ratings = run_of(league).ratings
    assert [rating.line.rank for rating in ratings] == [1, 2, 3, 4]
    order = [league.versions.index(rating.version_id) for rating in ratings]
    assert order == [4, 1, 2, 3]
    assert ratings[1].line.elo == ratings[2].line.elo


# -- anchors ------------------------------------------------------------------------


def test_the_anchors_mean_is_the_base(league: "League") -> None:
    """Whoever else joins, and however weak."""
    league.finish_random(200)
    league.set_anchors(1, 3)
    for _ in range(2):
        lines = lines_of(league)
        assert (lines[1].elo + lines[3].elo) / 2 == pytest.approx(BASE, abs=1e-4)
        assert [line.is_anchor for line in lines[:5]] == [False, True, False, True, False]
        weak = league.add_bot()
        league.finish(*[(weak, number, WHITE) for number in range(5)] * 4)
    assert lines[5].elo < BASE - 200


def test_a_lone_anchor_is_sure(league: "League") -> None:
    """Intervals are of differences from it, and it has none from itself."""
    league.finish_random(200)
    league.set_anchors(2)
    lines = lines_of(league)
    assert (lines[2].elo, lines[2].margin) == (BASE, 0.0)
    others = np.array([0, 1, 3, 4])
    variances = covariance_of(league.snapshot()).of_differences(others, np.full(4, 2))
    wanted = np.round(Z_95 * np.sqrt(variances), 4).tolist()
    assert [lines[other].margin for other in others] == wanted


def test_anchors_move_all_ratings_alike(league: "League") -> None:
    """Differences, ranks and chances are those without them."""
    league.finish_random(200)
    free = run_of(league).ratings
    league.set_anchors(0)
    anchored = run_of(league).ratings
    shifts = [one.line.elo - other.line.elo for one, other in zip(anchored, free, strict=True)]
    assert shifts == pytest.approx([shifts[0]] * 5, abs=2e-4)
    assert shifts[0] != 0
    assert [rating.line.superiority for rating in anchored] == [
        rating.line.superiority for rating in free
    ]


def test_an_anchor_that_has_not_played_holds_nothing(league: "League") -> None:
    """The others hold the base; where none has played it is as without anchors."""
    absent = league.add_bot()
    league.finish(*[(0, 1, BLACK), (1, 2, DRAW), (2, 0, WHITE), (3, 4, BLACK), (4, 0, DRAW)] * 8)
    free = lines_of(league)
    league.set_anchors(absent)
    assert lines_of(league) == free
    league.set_anchors(absent, 1)
    lines = lines_of(league)
    assert lines[1].elo == BASE
    assert [line.is_anchor for line in lines] == [False, True, False, False, False]


def test_newcomers_do_not_move_the_established(league: "League") -> None:
    """Without anchors the base is the mean of those with enough games."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    league.finish((3, 0, WHITE), (4, 1, WHITE))
    lines = lines_of(league)
    assert sum(line.elo for line in lines[:3]) / 3 == pytest.approx(BASE, abs=1e-3)
    assert max(lines[3].elo, lines[4].elo) < BASE - 50


def test_a_frozen_bot_does_not_weigh_on_the_centre(league: "League") -> None:
    """It keeps its line, and the others' mean is the base once it has not played for a month."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    league.finish(*[(3, 0, WHITE), (3, 1, WHITE)] * ESTABLISHED, (3, 2, DRAW))
    assert np.mean([line.elo for line in lines_of(league)]) == pytest.approx(BASE, abs=1e-3)
    league.finish((0, 1, DRAW), (1, 2, DRAW), (2, 0, DRAW), day=30)
    assert np.mean([line.elo for line in lines_of(league)]) == pytest.approx(BASE, abs=1e-3)
    league.finish((0, 1, DRAW), (1, 2, DRAW), (2, 0, DRAW), day=31)
    lines = lines_of(league)
    assert np.mean([line.elo for line in lines[:3]]) == pytest.approx(BASE, abs=1e-3)
    assert lines[3].elo < BASE - 200
    assert not lines[3].is_provisional


def test_many_versions_weigh_as_one_bot(league: "League") -> None:
    """The newest established one; differences are those of the fit."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    old = league.versions[0]
    league.renew(0, "2.0")
    meet(league, 0, 1, games=ESTABLISHED)
    newest = league.versions[:3]
    elo = {rating.version_id: rating.line.elo for rating in run_of(league).ratings}
    assert np.mean([elo[version] for version in newest]) == pytest.approx(BASE, abs=1e-3)
    league.renew(1, "2.0")
    meet(league, 1, 2, games=2)
    elo = {rating.version_id: rating.line.elo for rating in run_of(league).ratings}
    assert np.mean([elo[version] for version in newest]) == pytest.approx(BASE, abs=1e-3)
    assert old in elo


# -- lineage ------------------------------------------------------------------------


def test_a_new_version_begins_near_its_parent(league: "League") -> None:
    """After one lost game it is far nearer to it than a bot without a parent, and surer."""
    meet(league, 0, 1, games=100)
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE), (0, 2, BLACK), (1, 2, DRAW)] * 30)
    parent = lines_of(league)[0]
    league.renew(0, "2.0")
    league.finish((0, 1, WHITE), (3, 1, WHITE))
    child, *_, stranger = lines_of(league)
    assert 0 < parent.elo - child.elo < (parent.elo - stranger.elo) / 2
    assert child.margin < stranger.margin / 1.5
    assert child.is_linked


def test_a_parent_links_nobody(league: "League") -> None:
    """New versions that met each other alone have no games that lead to the others."""
    meet(league, 0, 1, games=40)
    league.renew(0, "2.0")
    league.renew(1, "2.0")
    league.finish((0, 1, BLACK))
    assert [line.is_linked for line in lines_of(league)] == [False, False]


def test_the_width_of_the_lineage_is_told(league: "League") -> None:
    """In whole Elo; one link leaves it near the default."""
    meet(league, 0, 1, games=40)
    league.renew(0, "2.0")
    meet(league, 0, 1, games=40)
    parameters = run_of(league).parameters
    assert 100 < parameters["lineage"] < 150
    assert parameters["lineage"] == round(parameters["lineage"])


# -- marks --------------------------------------------------------------------------


def test_a_rating_of_few_games_is_provisional(league: "League") -> None:
    """Until it has enough of them."""
    meet(league, 0, 1, games=ESTABLISHED - 1)
    assert [line.is_provisional for line in lines_of(league)] == [True, True]
    league.finish((0, 1, DRAW))
    assert [line.is_provisional for line in lines_of(league)] == [False, False]


def test_whoever_wins_or_loses_all_is_provisional(league: "League") -> None:
    """The prior alone keeps the ratings finite; one draw is enough to end that."""
    meet(league, 0, 1, games=ESTABLISHED)
    league.finish(*[(2, 0, BLACK)] * ESTABLISHED, *[(3, 0, WHITE)] * ESTABLISHED)
    zero, one, perfect, zero_scorer = lines_of(league)
    assert not zero.is_provisional
    assert not one.is_provisional
    assert perfect.is_provisional
    assert zero_scorer.is_provisional
    assert 200 < perfect.elo - BASE < 1500
    assert 200 < BASE - zero_scorer.elo < 1500
    league.finish((2, 0, DRAW))
    assert not lines_of(league)[2].is_provisional


def test_an_anchor_is_not_provisional(league: "League") -> None:
    """It is what the others are measured by."""
    meet(league, 0, 1)
    league.set_anchors(0)
    assert [line.is_provisional for line in lines_of(league)] == [False, True]


def test_bots_without_a_path_to_the_anchors_are_marked(league: "League") -> None:
    """One game is a link, over any number of opponents."""
    league.set_anchors(0)
    league.finish((0, 1, DRAW), (2, 1, BLACK), (3, 4, BLACK), (4, 3, BLACK))
    assert [line.is_linked for line in lines_of(league)] == [True, True, True, False, False]
    league.finish((2, 3, DRAW))
    assert all(line.is_linked for line in lines_of(league))


def test_without_anchors_the_largest_component_is_linked(league: "League") -> None:
    """And the base is its mean alone."""
    league.finish((0, 1, WHITE), (2, 3, BLACK), (3, 4, BLACK))
    lines = lines_of(league)
    assert [line.is_linked for line in lines] == [False, False, True, True, True]
    assert sum(line.elo for line in lines[2:]) / 3 == pytest.approx(BASE, abs=1e-3)


def test_a_component_does_not_make_the_others_unsure(league: "League") -> None:
    """Its own intervals are wide, those of well-known bots stay what they were."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=100)
    before = [line.margin for line in lines_of(league)]
    league.finish((3, 4, BLACK))
    lines = lines_of(league)
    assert [line.margin for line in lines[:3]] == pytest.approx(before, rel=0.01)
    assert min(lines[3].margin, lines[4].margin) > 500


def test_each_anchor_links_its_component(league: "League") -> None:
    """Two of them in two components leave nobody out."""
    league.finish((0, 1, WHITE), (2, 3, BLACK), (3, 4, BLACK))
    league.set_anchors(0, 2)
    assert all(line.is_linked for line in lines_of(league))


# -- runs ---------------------------------------------------------------------------


def test_a_run_names_its_input(league: "League") -> None:
    """Revision, cut-off, games, repeats, checksum and parameters are what it was made from."""
    league.finish_random(30, lines=2)
    league.set_anchors(2, 1)
    found = league.snapshot()
    run = rate(found, NOON)
    assert (run.ladder_id, run.revision, run.voided) == (league.ladder_id, 31, 0)
    assert (run.cutoff, run.games, run.repeats) == (30, found.games, 30 - found.games)
    assert 0 < run.repeats < 30
    assert (run.checksum, run.create_time) == (found.checksum, NOON)
    assert run.algorithm == ALGORITHM
    anchored = fit_of(found).elo[1:3].mean()
    outcomes, robust = fit_of(found).outcomes, robust_of(found)
    assert run.parameters == {
        "advantage": round(outcomes.advantage, 4),
        "draws": round(outcomes.draws, 4),
        "draw_slope": round(outcomes.draw_slope, 4),
        "draw_level": round(BASE - anchored, 4),
        "correlation": round(robust.overdispersion.correlation, 4),
        "pair_deviation": round(robust.overdispersion.pair_deviation, 4),
        "walk": round(robust.walk.step, 4),
        "factor": round(robust.factor, 4),
        "log_likelihood": round(fit_of(found).log_likelihood, 4),
        "base": 1500.0,
        "prior": 600.0,
        "prior_mean": round(BASE - anchored, 4),
        "lineage": 150.0,
        "openings": 0.0,
        "established": 20,
        "active_days": 30,
        "anchors": [league.versions[1], league.versions[2]],
        "diagnosis": RunDiagnosis.from_json(run.diagnosis or {}).summary,
        "prior_sensitivity": run.parameters["prior_sensitivity"],
    }
    assert 0 < run.parameters["prior_sensitivity"]["normal_400"] < 20


def test_equal_games_give_equal_runs(league: "League") -> None:
    """The order of the counted pairs makes no difference."""
    league.finish_random(100)
    found = league.snapshot()
    rows = np.random.default_rng(1).permutation(len(found.counts.first))
    columns = {each.name: getattr(found.counts, each.name)[rows] for each in fields(found.counts)}
    shuffled = rate(replace(found, counts=PairCounts(**columns)), NOON)
    assert shuffled == rate(found, NOON)


def walking(games: int) -> list[tuple[BotVersionId, BotVersionId, float]]:
    """Results of two, of whom one wins the first half and the other the second."""
    one, other = BotVersionId(1), BotVersionId(2)
    return [(one, other, float(number < games // 2)) for number in range(games)]


def test_older_games_than_are_looked_at_need_a_walk_that_is_sure() -> None:
    """What the newest show by chance would be too much for a rating of many more."""
    rng = np.random.default_rng(2)
    pairs = rng.permuted(np.tile(np.arange(6), (600, 1)), axis=1)[:, :2]
    points = rng.integers(0, 2, 600).astype(float)
    recent = by_blocks([(one, other, won) for (one, other), won in zip(pairs, points, strict=True)])
    assert Pool.of(recent, ()).walk == STILL
    assert Pool.of(recent, (), recent=recent).walk.step > 0
    assert Pool.of(recent.joined(recent), (), recent=recent).walk == STILL
    sure = by_blocks(walking(200))
    assert Pool.of(sure.joined(sure), (), recent=sure).walk.is_sure


def test_a_run_keeps_what_its_errors_have_in_common(league: "League") -> None:
    """The variance of a difference can be read from it, as single-precision floats."""
    league.finish_random(100)
    kept = run_of(league).covariances
    assert kept is not None
    assert np.frombuffer(kept.version_ids, "<i8").tolist() == league.versions
    matrix = np.frombuffer(kept.matrix, "<f4").reshape(5, 5).astype(float)
    pairs = np.array([(0, 1), (3, 2)]).T
    wanted = covariance_of(league.snapshot()).of_differences(*pairs)
    one, other = pairs
    found = matrix[one, one] + matrix[other, other] - 2 * matrix[one, other]
    assert found == pytest.approx(wanted, rel=1e-4)


def test_no_games_make_an_empty_run(league: "League") -> None:
    """As when the only game was voided."""
    league.finish((0, 1, BLACK))
    league.void(1)
    run = run_of(league)
    assert (run.ratings, run.games, run.cutoff, run.voided) == ([], 0, 0, 1)
