"""Ladders over the wire, with made-up games and runs."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest
from sqlalchemy import Connection, update
from tests.query_plans import statements
from tests.store.league import League
from tests.store.made_up import LINE, NOON, run_of
from tests.store.made_up import publish as publish_run

from meijin.game import Result, Variant
from meijin.server.api.answers import pages as requests
from meijin.server.api.answers.messages import run_to_proto
from meijin.server.api.services import ladders as servicer
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import NewRun, find_run
from meijin.store.rows import add_rows, change_row
from meijin.store.schema import (
    Bot,
    BotVersion,
    BotVersionId,
    CalibrationDay,
    ChangeFinding,
    DriftFinding,
    FitSummary,
    GoodnessFinding,
    PairFinding,
    Posterior,
    RatingDay,
    RunDiagnosis,
    RunParameters,
    TripleFinding,
)
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.mapping import to_message

if TYPE_CHECKING:
    from tests.server.conftest import StartServer
    from tests.server_in_test import ServerInTest

NAME = "freestyle-15x15"
ADA, BOB = (f"{NAME}-bot-{number}" for number in range(2))
OLD_ADA = pb.RatedVersion(version_id="1", bot=ADA, version="1.0")
ONLY_BOB = pb.RatedVersion(version_id="2", bot=BOB, version="1.0")
WON, LOST = pb.Score(wins=1), pb.Score(losses=1)
FIRST, SECOND = (1600.0, 1400.0), (1550.0, 1450.0)
"""The ratings of two runs."""
LONG_AGO = date(2026, 2, 1)
"""30 days before the last day that was foretold."""
MACHINES = (("AMD EPYC 7B13", 400_000), ("M2", 0))
PARAMETERS = RunParameters(
    advantage=20.5, draws=10.25, draw_slope=0.5, draw_level=1500.0, lineage=80.0, openings=25.0
)


async def ask(server: ServerInTest, method: str, **fields: Any) -> Any:
    return await server.ask(f"LadderService/{method}", **fields)


def play(server: ServerInTest) -> League:
    """A ladder of two bots, the first of which has won both games."""
    league = League(server.database, bots=2)
    league.finish((0, 1, Result.BLACK_WINS), (1, 0, Result.WHITE_WINS))
    return league


def publish(
    league: League, revision: int, elos: tuple[float, float], *, is_diagnosed: bool = False
) -> None:
    """Publish a run over the two bots, whose difference varies by 100 Elo; the best is anchor."""
    one, other = league.versions
    run = replace(
        run_of(league, revision),
        voided=0,
        sequenced=revision,
        cutoff=revision,
        parameters=PARAMETERS,
        ratings=[
            replace(LINE, version_id=one, elo=elos[0], is_anchor=True),
            replace(LINE, version_id=other, rank=2, elo=elos[1], superiority=None),
        ],
        covariances=Posterior(
            version_ids=np.array((one, other), "<i8").tobytes(),
            matrix=np.diag([5000.0, 5000.0]).astype("<f4").tobytes(),
        ),
    )
    assert publish_run(league, diagnosed(run, one, other) if is_diagnosed else run)


def diagnosed(run: NewRun, one: BotVersionId, other: BotVersionId) -> NewRun:
    """A run with a finding of each kind; the triple of a third version that nobody knows."""
    third = BotVersionId(99)
    fit: dict[str, Any] = {
        "p_value": 0.0125,
        "is_rejected": True,
        "overdispersion": 2.5,
        "deviation": 81.5,
    }
    goodness = GoodnessFinding(**fit, chi_square=31.5, deviance=30.5, freedom=12.25, pairs=20)
    summary = FitSummary(**fit, pairs=1, triples=2, drifts=3, changes=4)
    return replace(
        run,
        ratings=[replace(each, depends_on_opponents=True) for each in run.ratings],
        parameters=replace(run.parameters, diagnosis=summary),
        diagnosis=RunDiagnosis(
            goodness=goodness,
            pairs=(PairFinding(one, other, 40, 0.75, 0.5, 4.5, 0.001, is_sure=True),),
            triples=(TripleFinding(one, other, third, 300.0, 4.5, 0.001, is_sure=True),),
            drifts=(DriftFinding(other, -20.5, 4.5, 0.001, is_sure=False),),
            changes=(ChangeFinding(one, 60, 120.5, 5.5, 0.001, is_sure=True),),
        ),
    )


def keep_days_and_machines(connection: Connection, league: League) -> None:
    days = [
        RatingDay(
            ladder_id=league.ladder_id,
            day=date(2026, 3, day),
            version_id=league.versions[0],
            elo=1500.0 + 10 * day,
            margin=40.0 + day,
            games=day,
        )
        for day in (1, 2, 3)
    ]
    add_rows(connection, days)
    foretold = [
        CalibrationDay(
            ladder_id=league.ladder_id,
            day=day,
            bin=3,
            games=20,
            expected=13.5,
            points=15.0,
        )
        for day in (LONG_AGO, date(2026, 3, 2), date(2026, 3, 3))
    ]
    add_rows(connection, foretold)
    for version, (hardware, speed) in zip(league.versions, MACHINES, strict=True):
        change = update(BotVersion).where(BotVersion.id == version)
        connection.execute(change.values(hardware=hardware, nodes_per_second=speed))


@pytest.fixture(scope="module")
async def _rated(start_shared_server: StartServer) -> AsyncIterator[ServerInTest]:
    async with start_shared_server() as server:
        league = play(server)
        publish(league, 1, FIRST)
        publish(league, 2, SECOND, is_diagnosed=True)
        server.database.write(keep_days_and_machines, league)
        league.renew(0, "2.0")
        yield server


@pytest.fixture
def rated(_rated: ServerInTest, _no_failure: None) -> ServerInTest:
    """A ladder of two bots with an old run and one that has all games, with a diagnosis.

    The first of them has come back with new code.
    """
    return _rated


@pytest.fixture
def unrated(shared: ServerInTest) -> ServerInTest:
    """A ladder of two bots without a run."""
    if not shared.database.read(ladders.list_ladders, limit=1):
        play(shared)
    return shared


@pytest.fixture
def league(server: ServerInTest) -> League:
    """One of the test's own, in which two games were played."""
    return play(server)


async def test_the_published_standings_are_shown(rated: ServerInTest) -> None:
    """Best first, with the run they are from; the only ladder needs no name."""
    table = await ask(rated, "GetStandings")
    assert table == await ask(rated, "GetStandings", ladder=NAME)
    assert (table.ladder.name, table.ladder.games, table.ladder.current) == (NAME, 2, True)
    run = table.run
    assert (run.games, run.repeats, run.algorithm) == (2, 2, "made-up")
    assert (run.lineage_deviation, run.opening_deviation) == (80.0, 25.0)
    assert run.create_time.ToDatetime(UTC) == NOON + timedelta(minutes=2)
    assert run.score_at_100 == pytest.approx(0.6389, abs=1e-4)  # on openings that differ
    assert (run.advantage, run.draws) == (20.5, 10.25)
    assert (run.draw_slope, run.draw_level) == (0.5, 1500.0)
    assert run.fit == pb.FitSummary(
        p_value=0.0125,
        rejected=True,
        overdispersion=2.5,
        deviation=81.5,
        pairs=1,
        triples=2,
        drifts=3,
        changes=4,
    )
    best, last = table.standings
    assert (best.rank, best.bot, best.version) == (1, ADA, "1.0")
    assert (last.rank, last.bot, last.version) == (2, BOB, "1.0")
    assert (best.elo, best.classic_elo, best.margin) == (1550, 1500.25, 50.25)
    assert best.as_black == pb.Score(wins=2, draws=1, losses=1)
    assert best.as_white == pb.Score(wins=1, draws=1)
    assert (best.superiority, best.opponents_elo) == (0.75, 1499.5)
    assert (best.faults, best.anchor, best.provisional, best.linked) == (1, True, True, True)
    assert not last.HasField("superiority")
    for row in (best, last):
        assert (row.depends_on_opponents, row.changes_over_time) == (True, False)
        assert not row.HasField("preview_elo"), "the run has all games"


async def test_a_width_that_is_the_default_is_not_told(rated: ServerInTest) -> None:
    """Nothing was found then."""
    run = rated.database.read(find_run, rated.database.read(ladders.get_ladder, NAME))
    assert run is not None
    assert run_to_proto(run).lineage_deviation == 80.0
    parameters = replace(run.parameters, lineage=150.0)
    assert not run_to_proto(replace(run, parameters=parameters)).HasField("lineage_deviation")


async def test_a_ladder_without_a_run_has_no_standings(unrated: ServerInTest) -> None:
    table = await ask(unrated, "GetStandings")
    assert (table.HasField("run"), len(table.standings)) == (False, 0)
    assert (table.ladder.games, table.ladder.current) == (2, False)


async def test_runs_are_listed_newest_first(rated: ServerInTest) -> None:
    """In pages: each can be asked for by its number."""
    page = await ask(rated, "ListRatingRuns", page_size=1)
    assert [(run.run_id, run.games) for run in page.runs] == [("2", 2)]
    last = await ask(rated, "ListRatingRuns", page_token=page.next_page_token)
    assert ([run.run_id for run in last.runs], last.next_page_token) == (["1"], "")
    table = await ask(rated, "GetStandings", run_id="1")
    assert (table.run.run_id, table.run.games) == ("1", 1)
    assert [row.elo for row in table.standings] == list(FIRST)


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({}, (ADA, BOB)),
        ({"hardware": "epyc"}, (ADA,)),
        ({"hardware": "m2"}, (BOB,)),
        ({"hardware": "%"}, ()),
        ({"min_nodes_per_second": 400_000}, (ADA,)),
        ({"min_nodes_per_second": 400_001}, ()),
        ({"max_nodes_per_second": 400_000}, (ADA,)),
        ({"max_nodes_per_second": 399_999}, ()),
    ],
)
async def test_lines_are_chosen_by_what_versions_say_of_their_machines(
    rated: ServerInTest, filters: dict[str, Any], shown: tuple[str, ...]
) -> None:
    """Pages are of the lines that are shown, with ranks among them and the run's own ratings."""
    page = await ask(rated, "GetStandings", page_size=1, **filters)
    found = list(page.standings)
    while token := page.next_page_token:
        page = await ask(rated, "GetStandings", page_size=1, page_token=token, **filters)
        found += page.standings
    ratings = dict(zip((ADA, BOB), zip(SECOND, MACHINES, strict=True), strict=True))
    assert [row.bot for row in found] == list(shown)
    assert [row.rank for row in found] == list(range(1, len(found) + 1))
    for row in found:
        assert (row.elo, (row.hardware, row.nodes_per_second)) == ratings[row.bot]


async def test_a_bots_ratings_are_listed_newest_first(rated: ServerInTest) -> None:
    token, found = "", list[pb.DayRating]()
    while token or not found:
        page = await ask(rated, "ListRatings", bot=ADA, page_size=1, page_token=token)
        found += page.ratings
        token = page.next_page_token
    assert [(each.day, each.version, each.elo, each.margin, each.games) for each in found] == [
        ("2026-03-03", "1.0", 1530.0, 43.0, 3),
        ("2026-03-02", "1.0", 1520.0, 42.0, 2),
        ("2026-03-01", "1.0", 1510.0, 41.0, 1),
    ]


async def test_a_bots_ratings_by_run(rated: ServerInTest) -> None:
    """With when each was computed: there are some before any day is over."""
    token, found = "", list[pb.DayRating]()
    while token or not found:
        page = await ask(rated, "ListRatings", bot=ADA, by_run=True, page_size=1, page_token=token)
        found += page.ratings
        token = page.next_page_token
    assert [(each.elo, each.version, each.games) for each in found] == [
        (SECOND[0], "1.0", 6),
        (FIRST[0], "1.0", 6),
    ]
    newer, older = (each.create_time.ToDatetime(UTC) for each in found)
    assert newer > older
    assert found[0].day == f"{newer:%Y-%m-%d}"


async def test_a_bots_rank_is_that_of_the_table(rated: ServerInTest) -> None:
    """Among the lines that are shown; nobody has one where no run rates it."""
    table = (await ask(rated, "GetStandings")).standings
    for row in table:
        found = await rated.ask("BotService/GetBot", name=row.bot, with_results=True)
        assert (found.rank, found.ranked) == (row.rank, len(table))
    await rated.register("new")
    assert not (await rated.ask("BotService/GetBot", name="new", with_results=True)).rank


async def test_head_to_head(unrated: ServerInTest) -> None:
    """From the first bot's side, by colours; nothing is expected before the first run."""
    score = await ask(unrated, "GetHeadToHead", bot=ADA, opponent=BOB)
    both = pb.ColorScores(as_black=WON, as_white=WON)
    assert score == pb.GetHeadToHeadResponse(
        as_black=WON,
        as_white=WON,
        version=OLD_ADA,
        opponent_version=ONLY_BOB,
        without_faults=both,
        openings=[pb.OpeningScores(scores=both)],
        opening_count=1,
        all_versions=both,
    )
    score = await ask(unrated, "GetHeadToHead", bot=BOB, opponent=ADA)
    assert (score.version, score.opponent_version) == (ONLY_BOB, OLD_ADA)
    assert (score.as_black, score.as_white) == (LOST, LOST)


async def test_head_to_head_is_of_two_versions(rated: ServerInTest) -> None:
    """New code has no games: those of all versions stand by themselves, and by the id the old."""
    old = await ask(rated, "GetHeadToHead", bot=ADA, opponent=BOB)
    assert (old.version, old.as_black) == (OLD_ADA, WON)
    assert old.expectation.difference == 100
    newest = await ask(rated, "GetHeadToHead", bot=ADA, opponent=BOB, version_id="3")
    assert newest.version == pb.RatedVersion(version_id="3", bot=ADA, version="2.0")
    assert newest.as_black == newest.as_white == pb.Score()
    assert not newest.HasField("expectation")
    assert newest.all_versions == old.all_versions
    assert newest.all_versions.as_white == WON


async def test_the_matrix_compares_each_two(rated: ServerInTest) -> None:
    """Best first; a cell has the chance to be stronger, the expected score, and the score."""
    matrix = await ask(rated, "GetMatrix")
    assert [row.standing.bot for row in matrix.rows] == [ADA, BOB]
    (own, cell), _ = (row.cells for row in matrix.rows)
    assert (own.superiority, own.expected_score) == (0.5, 0.5)
    assert cell.superiority == pytest.approx(0.8413, abs=1e-4)
    assert cell.score == pb.Score(wins=2)
    for request in ({"limit": 1}, {"bots": [ADA]}):
        rows = (await ask(rated, "GetMatrix", **request)).rows
        assert [row.standing.bot for row in rows] == [ADA]


async def test_the_diagnosis_of_a_run_is_shown(rated: ServerInTest) -> None:
    """By the names of versions, without what a bot that is not shown takes part in.

    A run of before has none.
    """
    found = await ask(rated, "GetDiagnosis")
    assert (found.ladder, found.run.run_id, found.pairs_with_enough_games) == (NAME, "2", 20)
    assert (found.chi_square, found.deviance, found.degrees_of_freedom) == (31.5, 30.5, 12.25)
    (pair,) = found.pairs
    assert (pair.one, pair.other) == (OLD_ADA, ONLY_BOB)
    assert (pair.games, pair.score, pair.expected_score) == (40, 0.75, 0.5)
    assert (pair.deviations, pair.p_value, pair.sure) == (4.5, 0.001, True)
    (drift,) = found.drifts
    assert (drift.version, drift.elo_per_100_games, drift.sure) == (ONLY_BOB, -20.5, False)
    (change,) = found.changes
    assert (change.version, change.games, change.elo) == (OLD_ADA, 60, 120.5)
    assert not found.triples
    found = await ask(rated, "GetDiagnosis", run_id="1")
    assert (found.run.run_id, len(found.pairs)) == ("1", 0)
    assert not found.HasField("chi_square")
    assert not found.run.HasField("fit")


async def test_how_true_expected_scores_were_is_told(rated: ServerInTest) -> None:
    """What favourites were told and what they scored, by the days since the second."""
    found = await ask(rated, "GetCalibration")
    assert (found.ladder, found.days) == (NAME, 3)
    assert (found.first_day, found.last_day) == (LONG_AGO.isoformat(), "2026-03-03")
    (told,) = found.bins
    assert (told.games, told.expected_score, told.score) == (60, 0.675, 0.75)
    assert (told.low, told.high) == pytest.approx((0.65, 0.7))
    assert (told.score_low, told.score_high) == pytest.approx((0.628, 0.842), abs=1e-3)


async def test_a_table_sums_up_how_true_they_were(rated: ServerInTest) -> None:
    """Over the last 30 days that were foretold, once; not of an earlier run."""
    foretold = (await ask(rated, "GetStandings", page_size=1)).foretold
    assert (foretold.games, foretold.expected_score, foretold.score) == (40, 0.675, 0.75)
    assert (foretold.low, foretold.high) == (0.5, 1.0)
    assert not (await ask(rated, "GetStandings", run_id="1")).HasField("foretold")


async def test_tables_become_messages_off_the_loop(
    rated: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one would hold up every game; a page ends by its bytes, but has one line at least."""
    threads: dict[type, threading.Thread] = {}
    convert = to_message

    def noted(row: Any, kind: Any, **differing: Any) -> Any:
        threads[kind] = threading.current_thread()
        return convert(row, kind, **differing)

    monkeypatch.setattr(servicer, "to_message", noted)
    monkeypatch.setattr(requests, "MAX_PAGE_BYTES", 10)
    page = await ask(rated, "GetStandings")
    await ask(rated, "GetMatrix")
    assert {pb.Standing, pb.GetMatrixResponse} <= threads.keys()
    assert threading.current_thread() not in threads.values()
    assert (len(page.standings), page.next_page_token) == (1, f"{page.run.run_id}.1")


# -- what changes -----------------------------------------------------------------


async def test_ladders_are_listed(server: ServerInTest, league: League) -> None:
    """By name, with their games, in pages; one that is behind is not current."""
    publish(league, 1, FIRST)
    await server.tournament(ADA, BOB, variant=Variant(width=6, height=6))
    await server.tournament(ADA, BOB, variant=Variant(width=7, height=7), unrated=True)
    page = await ask(server, "ListLadders", page_size=1)
    (first,) = page.ladders
    assert (first.name, first.games, first.current) == (NAME, 2, False)
    assert first.run_create_time.ToDatetime(UTC) == NOON + timedelta(minutes=1)
    rest = await ask(server, "ListLadders", page_token=page.next_page_token)
    (second,) = rest.ladders
    assert (second.name, second.games, second.current) == ("freestyle-6x6-classical", 0, True)
    assert (second.HasField("run_create_time"), rest.next_page_token) == (False, "")


async def test_a_table_is_read_in_pages(server: ServerInTest, league: League) -> None:
    """All of one run, though another is published meanwhile; games since are previewed.

    One step for each game: the winner rises, and the loser falls by as much.
    """
    publish(league, 1, SECOND)
    first = await ask(server, "GetStandings", page_size=1)
    token = first.next_page_token
    ada, bob = (await ask(server, "GetStandings")).standings
    assert ada.preview_elo - ada.elo == pytest.approx(bob.elo - bob.preview_elo)
    assert 0 < ada.preview_elo - ada.elo < 60
    publish(league, 2, (1650, 1350))
    second = await ask(server, "GetStandings", page_size=1, page_token=token)
    rows = [*first.standings, *second.standings]
    assert [(row.rank, row.elo) for row in rows] == list(enumerate(SECOND, start=1))
    assert (second.run.run_id, second.next_page_token) == (first.run.run_id, "")


async def test_a_run_is_exported(server: ServerInTest, league: League) -> None:
    """In pages, with both versions' names, but hidden bots'; a newer run ends the list."""
    database = server.database
    publish(league, 2, SECOND)
    page = await ask(server, "ListPairCounts", page_size=1)
    assert list(page.pair_counts) == [pb.PairCount(black=OLD_ADA, white=ONLY_BOB, score=WON)]
    assert page.run.run_id == "1"
    rest = await ask(server, "ListPairCounts", page_token=page.next_page_token)
    assert list(rest.pair_counts) == [pb.PairCount(black=ONLY_BOB, white=OLD_ADA, score=LOST)]
    first = await ask(server, "ListCovariances", page_size=1)
    second = await ask(server, "ListCovariances", page_token=first.next_page_token)
    assert rest.next_page_token == second.next_page_token == ""
    rows = [*first.rows, *second.rows]
    assert [row.version for row in rows] == [OLD_ADA, ONLY_BOB]
    assert [list(row.values) for row in rows] == [[5000, 0], [0, 5000]]
    database.write(change_row, Bot, league.bots[1], is_hidden=True)
    counts = (await ask(server, "ListPairCounts")).pair_counts
    rows = (await ask(server, "ListCovariances")).rows
    assert counts[0].white == rows[1].version == pb.RatedVersion(version_id="2")
    assert counts[0].black == OLD_ADA
    publish(league, 3, (1560, 1440))
    with pytest.raises(grpc.aio.AioRpcError, match="run 2 has taken the place of run 1"):
        await ask(server, "ListPairCounts", page_token=page.next_page_token)


async def test_anchors_make_the_ladder_due_for_a_run(server: ServerInTest, league: League) -> None:
    """They are versions, kept until others take their place; no game is counted for it."""
    database = server.database
    publish(league, 2, SECOND)
    with statements(database.writer) as written:
        ladder = (await ask(server, "SetAnchors", bots=[BOB, ADA])).ladder
    assert (ladder.name, ladder.games, ladder.current) == (NAME, 2, False)
    assert [words for words in written if "anchor" in words]
    assert not [words for words in written if "count(" in words]
    await ask(server, "SetAnchors", bots=[BOB])
    assert len(database.read(ladders.anchors, league.ladder_id)) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"wins_as_black": 19, "losses_as_black": 0, "draws_as_black": 0, "draws_as_white": 0},
            f'"{BOB}" has won every rated game (20): relative to it all others would be as unsure',
        ),
        ({"is_linked": False, "wins_as_black": 19}, f'no games lead from "{BOB}" to most others'),
    ],
)
async def test_an_unsure_anchor_is_refused(
    server: ServerInTest, league: League, changes: dict[str, Any], words: str
) -> None:
    """Unless it is forced."""
    run = run_of(league, 2)
    line = replace(LINE, version_id=league.versions[1], rank=2, is_anchor=False, **changes)
    assert publish_run(league, replace(run, ratings=[run.ratings[0], line]))
    end = await server.refusal("LadderService/SetAnchors", bots=[BOB])
    assert (end.reason, words in end.details) == ("UNSURE_ANCHOR", True), end.details
    assert "force it (--force)" in end.details
    assert not server.database.read(ladders.anchors, league.ladder_id)
    await ask(server, "SetAnchors", bots=[BOB], force=True)
    assert len(server.database.read(ladders.anchors, league.ladder_id)) == 1


async def test_a_young_anchor_is_taken(server: ServerInTest, league: League) -> None:
    """Though it has won every game so far: who has few is still to show its strength."""
    won: dict[str, Any] = {"losses_as_black": 0, "draws_as_black": 0, "draws_as_white": 0}
    line = replace(LINE, version_id=league.versions[1], is_linked=False, **won)
    assert publish_run(league, replace(run_of(league, 2), ratings=[line]))
    await ask(server, "SetAnchors", bots=[BOB])
    assert len(server.database.read(ladders.anchors, league.ladder_id)) == 1


NO_LADDER, NO_BOT = ("NOT_FOUND", 'no ladder "x"'), ("NOT_FOUND", 'no bot "x"')
NO_RUN, NO_RUN_9 = ("WRONG_STATE", "no run yet"), ("NOT_FOUND", "no run 9")
PAGE_TOKEN, PAGE_SIZE = ("INVALID_REQUEST", "page_token"), ("INVALID_REQUEST", "page_size")
SELF = ("INVALID_REQUEST", "does not meet itself")


@pytest.mark.parametrize(
    ("method", "fields", "expected"),
    [
        ("GetStandings", {"ladder": "x"}, NO_LADDER),
        ("GetStandings", {"run_id": "9"}, NO_RUN_9),
        ("GetStandings", {"page_size": 1001}, PAGE_SIZE),
        ("GetStandings", {"page_token": "1"}, PAGE_TOKEN),
        ("ListRatingRuns", {"ladder": "x"}, NO_LADDER),
        ("ListRatings", {"bot": "x"}, NO_BOT),
        ("ListRatings", {"bot": ADA, "ladder": "x"}, NO_LADDER),
        ("ListRatings", {"bot": ADA, "page_token": "x"}, PAGE_TOKEN),
        ("ListRatings", {"bot": ADA, "page_token": "2026-03-01.x"}, PAGE_TOKEN),
        ("ListPairCounts", {"page_token": "1"}, PAGE_TOKEN),
        ("GetMatrix", {}, NO_RUN),
        ("GetMatrix", {"limit": 201}, ("INVALID_REQUEST", "limit 201")),
        ("GetMatrix", {"bots": ["x"] * 201}, ("INVALID_REQUEST", "bots: 201 names; at most 200")),
        ("GetCalibration", {"ladder": "x"}, NO_LADDER),
        ("GetDiagnosis", {}, NO_RUN),
        ("GetDiagnosis", {"run_id": "9"}, NO_RUN_9),
        ("GetDiagnosis", {"ladder": "x"}, NO_LADDER),
        ("GetHeadToHead", {"bot": ADA, "opponent": ADA}, SELF),
        ("GetHeadToHead", {"bot": ADA, "opponent": "x"}, NO_BOT),
        (
            "GetHeadToHead",
            {"bot": ADA, "opponent": BOB, "version_id": "2"},
            ("NOT_FOUND", f'"{ADA}" has no version 2'),
        ),
        ("SetAnchors", {"bots": ["x"]}, NO_BOT),
        ("SetAnchors", {"bots": list("abcd")}, ("INVALID_REQUEST", "at most 3")),
        ("ListLadders", {"page_size": 1001}, PAGE_SIZE),
    ],
)
async def test_what_is_not_there_is_named(
    unrated: ServerInTest, method: str, fields: dict[str, Any], expected: tuple[str, str]
) -> None:
    """Ladders, bots and places in lists."""
    end = await unrated.refusal(f"LadderService/{method}", **fields)
    reason, words = expected
    assert (end.reason, words in end.details) == (reason, True), end.details


async def test_without_any_ladder_the_error_says_what_makes_one(server: ServerInTest) -> None:
    end = await server.refusal("LadderService/GetStandings")
    assert (end.reason, "rated tournament" in end.details) == ("NOT_FOUND", True)
