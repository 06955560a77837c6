"""The table of a ladder: what follows from a snapshot of its games."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pytest
from tests.store.league import BLACK, DRAW, NOON, WHITE, League

from meijin.ladder.pool import BASE, ESTABLISHED, Pool
from meijin.ladder.rating_table import ALGORITHM, by_blocks, rate, summary_of
from meijin.ladder.statistics.diagnosis.over_time import points_over_time
from meijin.ladder.statistics.diagnosis.random_walks import walked
from meijin.ladder.statistics.fit.bradley_terry import Fit
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.intervals.robust import RobustCovariance, robust_covariance
from meijin.ladder.tally import Snapshot
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import BotVersionId, RatingLine, RunDiagnosis, RunParameters, Score


def run_of(league: League) -> NewRun:
    return rate(league.snapshot(), NOON)


def lines_of(league: League) -> list[RatingLine]:
    """The line of each bot that has played, by its number."""
    lines = {rating.version_id: rating for rating in run_of(league).ratings}
    return [lines[version] for version in league.versions if version in lines]


def fit_of(snapshot: Snapshot) -> Fit:
    """A fit of the counted games, taken from their rows alone."""
    return fit_with_widths(snapshot.counts.pooled())


def robust_of(snapshot: Snapshot) -> RobustCovariance:
    """The robust covariance of that fit, with a walk of all its games."""
    known, recent = fit_of(snapshot), by_blocks(snapshot.tally.recent)
    return robust_covariance(known, walked(points_over_time(known, recent)))


def meet(league: League, one: int, other: int, *, games: int = 4) -> None:
    """Have two bots share the points of this many games, colours in turn."""
    pairs = [(one, other) if number % 2 else (other, one) for number in range(games)]
    league.finish(*((*pair, BLACK if n % 4 < 2 else WHITE) for n, pair in enumerate(pairs)))


# -- numbers ------------------------------------------------------------------------


def test_numbers_are_those_of_the_fit(league: League) -> None:
    """Elo is the fit around 1500, and a margin is that from the mean of all.

    All are rounded to four decimals; what errors have in common is kept in single precision.
    """
    league.finish_random(200)
    found, run = league.snapshot(), run_of(league)
    fitted, covariance = fit_of(found), robust_of(found).covariance
    margins = Z_95 * np.sqrt(covariance.from_mean(np.full(5, 0.2)))
    lines = lines_of(league)
    assert [line.elo for line in lines] == np.round(BASE + fitted.elo, 4).tolist()
    states = found.tally.versions.values()
    assert {line.classic_elo for line in lines} == {round(each.classic_elo, 4) for each in states}
    assert [line.margin for line in lines] == np.round(margins, 4).tolist()
    assert 20 < margins.min() < margins.max() < 120
    kept = run.covariances
    assert kept is not None
    assert np.frombuffer(kept.version_ids, "<i8").tolist() == league.versions
    matrix = np.frombuffer(kept.matrix, "<f4").reshape(5, 5).astype(float)
    one, other = np.array([(0, 1), (3, 2)]).T
    variances = matrix[one, one] + matrix[other, other] - 2 * matrix[one, other]
    assert variances == pytest.approx(covariance.of_differences(one, other), rel=1e-4)


def test_a_chance_is_that_to_lead_the_next_in_rank(league: League) -> None:
    """Of two bots, both intervals together are that of the difference; the last leads nobody."""
    meet(league, 0, 1, games=40)
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE)] * 5)
    first, last = run_of(league).ratings
    wanted = NormalDist().cdf((first.elo - last.elo) / (2 * first.margin / Z_95))
    assert first.superiority == pytest.approx(wanted, abs=1e-4)
    assert last.superiority is None


def test_a_line_counts_its_games_by_colour(league: League) -> None:
    """Wins, draws and losses with black and with white; faults are the losses by forfeit."""
    league.finish((0, 1, BLACK), (1, 0, BLACK), (0, 1, DRAW), (1, 0, DRAW), (1, 0, WHITE))
    league.finish((0, 1, WHITE), (0, 1, WHITE), forfeit=True)
    ours, other = lines_of(league)
    assert (ours.as_black, ours.as_white) == (Score(1, 1, 2), Score(1, 1, 1))
    assert (other.as_black, other.as_white) == (Score(1, 1, 1), Score(2, 1, 1))
    assert (ours.faults, other.faults) == (2, 0)


def test_opponents_are_averaged_over_the_games(league: League) -> None:
    """Whoever is met twice counts twice."""
    league.finish((0, 1, BLACK), (0, 1, DRAW), (2, 0, BLACK))
    zero, one, two = lines_of(league)
    assert zero.opponents_elo == pytest.approx((2 * one.elo + two.elo) / 3, abs=2e-4)
    assert one.opponents_elo == zero.elo


def test_ranks_go_down_from_the_best(league: League) -> None:
    """Equal ratings are ranked by age, so that ranks don't flicker."""
    league.finish((4, 3, BLACK), (3, 4, WHITE), (2, 1, DRAW), (1, 2, DRAW))
    ratings = run_of(league).ratings
    assert [rating.rank for rating in ratings] == [1, 2, 3, 4]
    order = [league.versions.index(rating.version_id) for rating in ratings]
    assert order == [4, 1, 2, 3]
    assert ratings[1].elo == ratings[2].elo


# -- anchors and the centre ---------------------------------------------------------


def test_the_anchors_mean_is_the_base(league: League) -> None:
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


def test_an_anchor_moves_all_ratings_alike(league: League) -> None:
    """Differences, ranks and chances are those without; a lone one is sure, the others relative to it."""
    league.finish_random(200)
    free = run_of(league).ratings
    league.set_anchors(2)
    anchored, lines = run_of(league).ratings, lines_of(league)
    shifts = [one.elo - other.elo for one, other in zip(anchored, free, strict=True)]
    assert shifts == pytest.approx([shifts[0]] * 5, abs=2e-4)
    assert shifts[0] != 0
    assert [rating.superiority for rating in anchored] == [rating.superiority for rating in free]
    variances = robust_of(league.snapshot()).covariance.of_differences(np.arange(5), np.full(5, 2))
    assert lines[2].elo == BASE
    assert [line.margin for line in lines] == np.round(Z_95 * np.sqrt(variances), 4).tolist()


def test_an_anchor_that_has_not_played_holds_nothing(league: League) -> None:
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


def mean_of(lines: Sequence[RatingLine]) -> float:
    return float(np.mean([line.elo for line in lines]))


def test_newcomers_do_not_move_the_established(league: League) -> None:
    """Without anchors the base is the mean of those with enough games."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    league.finish((3, 0, WHITE), (4, 1, WHITE))
    lines = lines_of(league)
    assert mean_of(lines[:3]) == pytest.approx(BASE, abs=1e-3)
    assert max(lines[3].elo, lines[4].elo) < BASE - 50


def test_a_frozen_bot_does_not_weigh_on_the_centre(league: League) -> None:
    """It keeps its line, and the others' mean is the base once it has not played for a month."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    league.finish(*[(3, 0, WHITE), (3, 1, WHITE)] * ESTABLISHED, (3, 2, DRAW))
    league.finish((0, 1, DRAW), (1, 2, DRAW), (2, 0, DRAW), day=30)
    assert mean_of(lines_of(league)) == pytest.approx(BASE, abs=1e-3)
    league.finish((0, 1, DRAW), (1, 2, DRAW), (2, 0, DRAW), day=31)
    lines = lines_of(league)
    assert mean_of(lines[:3]) == pytest.approx(BASE, abs=1e-3)
    assert lines[3].elo < BASE - 200
    assert not lines[3].is_provisional


def test_many_versions_weigh_as_one_bot(league: League) -> None:
    for one, other in ((0, 1), (1, 2), (2, 0)):
        meet(league, one, other, games=ESTABLISHED)
    league.renew(0, "2.0")
    meet(league, 0, 1, games=ESTABLISHED)
    newest = league.versions[:3]
    league.renew(1, "2.0")
    meet(league, 1, 2, games=2)
    lines = [line for line in run_of(league).ratings if line.version_id in newest]
    assert mean_of(lines) == pytest.approx(BASE, abs=1e-3)


# -- lineage ------------------------------------------------------------------------


def test_a_new_version_begins_near_its_parent(league: League) -> None:
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


def test_a_parent_links_nobody(league: League) -> None:
    """New versions that met each other alone have no games that lead to the others."""
    meet(league, 0, 1, games=40)
    league.renew(0, "2.0")
    league.renew(1, "2.0")
    league.finish((0, 1, BLACK))
    assert [line.is_linked for line in lines_of(league)] == [False, False]


# -- marks --------------------------------------------------------------------------


def test_a_rating_of_few_games_is_provisional(league: League) -> None:
    """Until it has enough of them; an anchor too: all others are measured by it."""
    meet(league, 0, 1, games=ESTABLISHED - 1)
    assert [line.is_provisional for line in lines_of(league)] == [True, True]
    league.set_anchors(0)
    assert [line.is_provisional for line in lines_of(league)] == [True, True]
    league.finish((0, 1, DRAW))
    assert [line.is_provisional for line in lines_of(league)] == [False, False]


def test_whoever_wins_or_loses_all_is_provisional(league: League) -> None:
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


def test_whoever_wins_or_loses_all_has_a_bound(league: League) -> None:
    """Not an anchor, which is where it is by definition, nor who is linked to nobody."""
    meet(league, 0, 1, games=ESTABLISHED)
    league.finish(*[(2, 0, BLACK)] * ESTABLISHED, *[(3, 0, WHITE)] * ESTABLISHED)
    zero, one, perfect, zero_scorer = lines_of(league)
    assert zero.bound is one.bound is None
    assert perfect.bound is not None
    assert zero_scorer.bound is not None
    assert zero_scorer.elo < zero_scorer.bound < zero.elo < perfect.bound < perfect.elo
    league.set_anchors(2)
    assert lines_of(league)[2].bound is None
    league.set_anchors(0)
    league.finish((4, league.add_bot(), BLACK))
    assert lines_of(league)[4].bound is None


def test_form_is_on_the_scale_of_the_table(league: League) -> None:
    """Of an anchor it is not the base, and who has few games has none."""
    meet(league, 0, 1, games=ESTABLISHED)
    league.finish((2, 0, BLACK))
    league.set_anchors(0)
    zero, one, two = lines_of(league)
    assert zero.form is not None
    assert one.form is not None
    assert (zero.form_games, one.form_games, two.form_games) == (21, 20, None)
    assert (two.form, two.form_margin) == (None, None)
    assert one.form == pytest.approx(one.elo, abs=30)
    assert zero.form == pytest.approx(BASE, abs=30)
    assert zero.form_margin is not None
    assert 100 < zero.form_margin < 200


def test_bots_without_a_path_to_the_anchors_are_marked(league: League) -> None:
    """One game is a link, over any number of opponents; each anchor links its component.

    Without anchors the largest component is linked, and the base is its mean alone.
    """

    def linked() -> list[int]:
        return [number for number, line in enumerate(lines_of(league)) if line.is_linked]

    league.finish((0, 1, DRAW), (2, 3, BLACK), (3, 4, BLACK))
    assert linked() == [2, 3, 4]
    assert mean_of(lines_of(league)[2:]) == pytest.approx(BASE, abs=1e-3)
    league.set_anchors(0)
    assert linked() == [0, 1]
    league.set_anchors(0, 2)
    assert linked() == [0, 1, 2, 3, 4]
    league.set_anchors(0)
    league.finish((1, 2, DRAW))
    assert linked() == [0, 1, 2, 3, 4]


# -- runs ---------------------------------------------------------------------------


def test_a_run_names_its_input(league: League) -> None:
    """Revision, cut-off, games, repeats, checksum and parameters are what it was made from."""
    league.finish_random(30, lines=2)
    league.set_anchors(2, 1)
    found = league.snapshot()
    run = rate(found, NOON)
    assert (run.ladder_id, run.revision, run.voided) == (league.ladder_id, 31, 0)
    assert (run.cutoff, run.games, run.repeats) == (30, found.tally.games, 30 - found.tally.games)
    assert 0 < run.repeats < 30
    assert (run.checksum, run.create_time) == (found.checksum, NOON)
    assert run.algorithm == ALGORITHM
    anchored = fit_of(found).elo[1:3].mean()
    outcomes, robust = fit_of(found).outcomes, robust_of(found)
    assert run.diagnosis is not None
    assert run.parameters == RunParameters(
        advantage=round(outcomes.advantage, 4),
        draws=round(outcomes.draws, 4),
        draw_slope=round(outcomes.draw_slope, 4),
        draw_level=round(BASE - anchored, 4),
        correlation=round(robust.overdispersion.correlation, 4),
        pair_deviation=round(robust.overdispersion.pair_deviation, 4),
        factor=round(robust.factor, 4),
        log_likelihood=round(fit_of(found).log_likelihood, 4),
        base=1500.0,
        prior=600.0,
        prior_mean=round(BASE - anchored, 4),
        lineage=150.0,
        openings=0.0,
        established=20,
        active_days=30,
        anchors=(league.versions[1], league.versions[2]),
        diagnosis=summary_of(run.diagnosis),
    )


def test_who_changed_has_a_wider_interval() -> None:
    """Where the newest games are other than the older ones, and they alone are told one by one."""
    drawn = [(one, other, 0.5) for one in range(1, 6) for other in range(1, 6) if one != other]
    lost = [(BotVersionId(1), BotVersionId(other), 0.0) for other in range(2, 6)] * 20
    older = by_blocks([(BotVersionId(one), BotVersionId(other), p) for one, other, p in drawn * 10])
    recent = by_blocks(lost)
    still = Pool.of(older.pooled().joined(recent.pooled()), ())
    told = Pool.of(older.pooled().joined(recent.pooled()), (), recent=recent)
    assert told.margin[0] > 1.5 * still.margin[0]


def test_no_games_make_an_empty_run(league: League) -> None:
    league.finish((0, 1, BLACK))
    league.void(1)
    run = run_of(league)
    assert (run.ratings, run.games, run.cutoff, run.voided) == ([], 0, 0, 1)


def diagnosis_of(run: NewRun) -> RunDiagnosis:
    assert run.diagnosis is not None
    return run.diagnosis


def circle(league: League, games: int = 30) -> None:
    """Three who beat each other, while the other two share their points with everyone."""
    for one, other in ((0, 1), (1, 2), (2, 0)):
        league.finish(*[(one, other, BLACK), (other, one, WHITE)] * games)
    for one in (3, 4):
        for other in range(one):
            league.finish(*[(one, other, BLACK), (other, one, BLACK)] * games)


def test_a_circle_is_kept_and_marked(league: League) -> None:
    """With everyone in it, by their versions, in the order of their wins."""
    circle(league)
    run = run_of(league)
    found = diagnosis_of(run)
    triple, versions = found.triples[0], league.versions
    assert [triple.one, triple.other, triple.third] == versions[:3]
    assert triple.is_sure
    assert found.goodness.is_rejected
    assert found.goodness.overdispersion > 2
    marked = {each.version_id for each in run.ratings if each.depends_on_opponents}
    assert marked >= set(versions[:3])
    assert run.parameters.diagnosis == summary_of(found)
    assert summary_of(found).triples == 1


def test_whoever_changes_is_marked(league: League) -> None:
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
    line = next(each for each in run.ratings if each.version_id == league.versions[0])
    assert line.changes_over_time
    assert line.changed_games == diagnosis_of(run).changes[0].games == 60


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
