"""Ladders over the wire, with runs that were published before."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest
from sqlalchemy import Connection, insert, select, update
from tests.query_plans import statements

from meijin.game import Variant
from meijin.server.api import ladders as servicer
from meijin.server.api import requests
from meijin.store import Database
from meijin.store.bots import change_bot
from meijin.store.ladders import ladders
from meijin.store.ladders.days import NewDayRating
from meijin.store.ladders.runs import Covariances, Line, NewRating, NewRun
from meijin.store.ladders.runs import publish as publish_run
from meijin.store.ladders.sequencer import sequence_in
from meijin.store.schema import BotId, BotVersion, Ladder, LadderId, RatingDay
from meijin.testing.server import ServerInTest
from meijin.v1 import ladder_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


async def play(server: ServerInTest) -> None:
    """Have ada win both games against bob on one ladder, and none on another."""
    ada, bob = await server.bot("ada", version="1"), await server.bot("bob")
    await server.tournament("ada", "bob", rounds=2)
    for _ in range(2):
        start = await bob.started()
        await bob.resign(start.game)
        await ada.ended()
        await bob.ended()
    await server.until_finished("1")


def line(rank: int, elo: float, *, of: int) -> Line:
    """A line of a run of so many versions: the best has won both games."""
    wins, losses = int(rank == 1), int(rank == 2)
    return Line(
        rank=rank,
        elo=elo,
        margin=50.5,
        superiority=0.9 if rank < of else None,
        classic_elo=elo - 1,
        opponents_elo=3000 - elo,
        wins_as_black=wins,
        draws_as_black=0,
        losses_as_black=losses,
        wins_as_white=wins,
        draws_as_white=0,
        losses_as_white=losses,
        faults=1,
        is_anchor=rank == 1,
        is_provisional=rank == 2,
        is_linked=True,
    )


GOODNESS = {
    "p_value": 0.0125,
    "is_rejected": True,
    "chi_square": 31.5,
    "deviance": 30.5,
    "freedom": 12.25,
    "pairs": 20,
    "overdispersion": 2.5,
    "deviation": 81.5,
}


def diagnosis(one: int, other: int) -> dict[str, Any]:
    """One of each kind, of two versions; the triple of a third that nobody knows."""
    sure = {"deviations": 4.5, "p_value": 0.001, "is_sure": True}
    pair = {"one": one, "other": other, "games": 40, "score": 0.75, "expected": 0.5, **sure}
    triple = {"one": one, "other": other, "third": 99, "excess": 300.0, **sure}
    drift = {"version_id": other, "elo_per_100_games": -20.5, **sure, "is_sure": False}
    return {"goodness": GOODNESS, "pairs": [pair], "triples": [triple], "drifts": [drift]}


SUMMARY = {
    "p_value": 0.0125,
    "overdispersion": 2.5,
    "deviation": 81.5,
    "is_rejected": True,
    "pairs": 1,
    "triples": 2,
    "drifts": 3,
}


def publish(
    database: Database, *, revision: int, elos: tuple[float, float], is_diagnosed: bool = False
) -> None:
    """Publish a run over the two bots of the only ladder, whose difference varies by 100 Elo."""

    def work(connection: Connection) -> None:
        ladder_id = connection.scalars(select(Ladder.id)).one()
        sequence_in(connection, ladder_id)
        versions = connection.scalars(select(BotVersion.id).order_by(BotVersion.id)).all()
        run = NewRun(
            ladder_id=LadderId(ladder_id),
            revision=revision,
            voided=0,
            sequenced=revision,
            cutoff=revision,
            games=revision,
            repeats=3,
            checksum=f"checksum {revision}",
            algorithm="by hand",
            parameters={
                "advantage": 20.5,
                "draws": 10.25,
                "draw_slope": 0.5,
                "draw_level": 1500.0,
                "lineage": 80.0,
                "openings": 25.0,
                "anchors": [],
            },
            create_time=NOON + timedelta(minutes=revision),
            ratings=[
                NewRating(versions[n], line(n + 1, elo, of=len(elos))) for n, elo in enumerate(elos)
            ],
            covariances=Covariances(
                np.array(versions[:2], "<i8").tobytes(),
                np.diag([5000.0, 5000.0]).astype("<f4").tobytes(),
            ),
        )
        if is_diagnosed:
            ratings = [
                replace(each, line=replace(each.line, depends_on_opponents=True))
                for each in run.ratings
            ]
            run = replace(
                run,
                ratings=ratings,
                parameters={**run.parameters, "diagnosis": SUMMARY},
                diagnosis=diagnosis(*versions[:2]),
            )
        assert publish_run(connection, run)

    database.write(work)


@asynccontextmanager
async def with_runs(
    start_server: StartServer, *runs: tuple[int, tuple[float, float]]
) -> AsyncIterator[ServerInTest]:
    """A server where two games were played and these runs published."""
    async with start_server() as server:
        await play(server)
    with Database(server.settings.database) as database:
        for revision, elos in runs:
            publish(database, revision=revision, elos=elos)
    async with start_server() as server:
        yield server


async def test_the_published_standings_are_shown(start_server: StartServer) -> None:
    """Best first, with the run they are from; the only ladder needs no name."""
    async with with_runs(start_server, (2, (1612.5, 1387.5))) as server:
        service = await server.ladders()
        for name in ("", "freestyle-5x5-classical"):
            table = await service.GetStandings(pb.GetStandingsRequest(ladder=name))
            assert (table.ladder.name, table.ladder.games) == ("freestyle-5x5-classical", 2)
            assert table.ladder.current
            assert (table.run.games, table.run.checksum) == (2, "checksum 2")
            assert (table.run.lineage_deviation, table.run.opening_deviation) == (80.0, 25.0)
            assert table.run.create_time.ToDatetime(UTC) == NOON + timedelta(minutes=2)
            assert table.run.score_at_100 == pytest.approx(0.6395, abs=1e-4)
            assert not table.run.HasField("prior_sensitivity")
            assert [(row.rank, row.bot, row.version) for row in table.standings] == [
                (1, "ada", "1"),
                (2, "bob", ""),
            ]
            best = table.standings[0]
            assert (best.elo, best.classic_elo) == (1612.5, 1611.5)
            assert best.as_black == best.as_white == pb.Score(wins=1)
            assert (best.margin, best.superiority, best.opponents_elo) == (50.5, 0.9, 1387.5)
            assert (best.faults, best.anchor, best.provisional, best.linked) == (
                1,
                True,
                False,
                True,
            )
            assert not table.standings[1].HasField("superiority")
            assert (table.run.advantage, table.run.draws, table.run.repeats) == (20.5, 10.25, 3)
            assert (table.run.draw_slope, table.run.draw_level) == (0.5, 1500.0)
            assert table.run.algorithm == "by hand"


async def test_a_ladder_without_a_run_has_no_standings(start_server: StartServer) -> None:
    """Before the first run, and while the published one is older than the games."""
    async with with_runs(start_server) as server:
        table = await (await server.ladders()).GetStandings(pb.GetStandingsRequest())
        assert not table.HasField("run")
        assert list(table.standings) == []
        assert (table.ladder.games, table.ladder.current) == (2, False)


async def test_ladders_are_listed(start_server: StartServer) -> None:
    """By name, with their games, in pages; one that is behind is not current."""
    async with with_runs(start_server, (1, (1600, 1400))) as server:
        await server.bot("ada", version="1")
        await server.bot("bob")
        await server.tournament("ada", "bob", variant=Variant(width=6, height=6))
        await server.tournament("ada", "bob", variant=Variant(width=7, height=7), unrated=True)
        service = await server.ladders()
        page = await service.ListLadders(pb.ListLaddersRequest(page_size=1))
        assert [row.name for row in page.ladders] == ["freestyle-5x5-classical"]
        assert (page.ladders[0].games, page.ladders[0].current) == (2, False)
        published = page.ladders[0].run_create_time.ToDatetime(UTC)
        assert published == NOON + timedelta(minutes=1)
        rest = await service.ListLadders(pb.ListLaddersRequest(page_token=page.next_page_token))
        assert [row.name for row in rest.ladders] == ["freestyle-6x6-classical"]
        assert (rest.ladders[0].games, rest.ladders[0].current) == (0, True)
        assert not rest.ladders[0].HasField("run_create_time")
        assert rest.next_page_token == ""


async def test_games_since_the_run_are_previewed(start_server: StartServer) -> None:
    """One step for each game: the winner rises, the loser falls by as much, until the next run."""
    async with with_runs(start_server, (1, (1550, 1450))) as server:
        best, last = (
            await (await server.ladders()).GetStandings(pb.GetStandingsRequest())
        ).standings
        assert best.preview_elo - best.elo == pytest.approx(last.elo - last.preview_elo)
        assert 0 < best.preview_elo - best.elo < 60


async def test_a_current_ladder_has_no_preview(start_server: StartServer) -> None:
    """There is nothing that the run does not know."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        table = await (await server.ladders()).GetStandings(pb.GetStandingsRequest())
        assert not any(row.HasField("preview_elo") for row in table.standings)


async def test_an_earlier_run_is_shown(start_server: StartServer) -> None:
    """A run that was cited can be looked up by its number."""
    async with with_runs(start_server, (1, (1600, 1400)), (2, (1650, 1350))) as server:
        table = await (await server.ladders()).GetStandings(pb.GetStandingsRequest(run_id="1"))
        assert (table.run.run_id, table.run.checksum) == ("1", "checksum 1")
        assert [row.elo for row in table.standings] == [1600, 1400]


async def test_runs_are_listed_newest_first(start_server: StartServer) -> None:
    """In pages: each can be asked for by its number."""
    async with with_runs(start_server, (1, (1600, 1400)), (2, (1650, 1350))) as server:
        service = await server.ladders()
        page = await service.ListRatingRuns(pb.ListRatingRunsRequest(page_size=1))
        assert [(run.run_id, run.checksum) for run in page.runs] == [("2", "checksum 2")]
        rest = pb.ListRatingRunsRequest(page_token=page.next_page_token)
        last = await service.ListRatingRuns(rest)
        assert ([run.run_id for run in last.runs], last.next_page_token) == (["1"], "")
        with pytest.raises(grpc.aio.AioRpcError, match="no ladder"):
            await service.ListRatingRuns(pb.ListRatingRunsRequest(ladder="renju-15x15-blitz"))


async def test_lines_are_chosen_by_what_versions_say_of_their_machines(
    start_server: StartServer,
) -> None:
    """Pages are of the lines that are shown, with ranks among them and the run's own ratings."""
    async with with_runs(start_server, (1, (1600, 1400))) as server:
        service = await server.ladders()
        machines = (("AMD EPYC 7B13", 400_000), ("M2", 0))

        def say(connection: Connection) -> None:
            ids = connection.scalars(select(BotVersion.id).order_by(BotVersion.id)).all()
            for version, (hardware, speed) in zip(ids, machines, strict=True):
                change = update(BotVersion).where(BotVersion.id == version)
                connection.execute(change.values(hardware=hardware, nodes_per_second=speed))

        async def shown(**filters: Any) -> list[tuple[int, str, float, int]]:
            request = pb.GetStandingsRequest(page_size=1, **filters)
            lines: list[pb.Standing] = []
            while not lines or request.page_token:
                page = await service.GetStandings(request)
                lines += page.standings
                request.page_token = page.next_page_token
                if not page.standings:
                    break
            return [(row.rank, row.bot, row.elo, row.nodes_per_second) for row in lines]

        server.database.write(say)
        ada, bob = (1, "ada", 1600, 400_000), (2, "bob", 1400, 0)
        assert await shown() == [ada, bob]
        assert await shown(hardware="epyc") == [ada]
        assert await shown(hardware="m2") == [(1, *bob[1:])]
        assert await shown(hardware="%") == []
        assert await shown(min_nodes_per_second=400_000) == [ada]
        assert await shown(min_nodes_per_second=400_001) == []
        assert await shown(max_nodes_per_second=400_000) == [ada]
        assert await shown(max_nodes_per_second=399_999) == []


async def test_a_table_is_read_in_pages(start_server: StartServer) -> None:
    """All of one run, though another is published meanwhile; a token of nobody's is refused."""
    async with with_runs(start_server, (1, (1600, 1400))) as server:
        service = await server.ladders()
        first = await service.GetStandings(pb.GetStandingsRequest(page_size=1))
        publish(server.database, revision=2, elos=(1650, 1350))
        request = pb.GetStandingsRequest(page_size=1, page_token=first.next_page_token)
        second = await service.GetStandings(request)
        rows = [*first.standings, *second.standings]
        assert [(row.rank, row.elo) for row in rows] == [(1, 1600), (2, 1400)]
        assert (second.run.run_id, second.next_page_token) == (first.run.run_id, "")
        for bad in ({"page_size": 1001}, {"page_token": "x"}, {"page_token": "1"}):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await service.GetStandings(pb.GetStandingsRequest(**bad))
            assert caught.value.code() is Code.INVALID_ARGUMENT


async def test_a_page_of_a_table_is_bounded_in_bytes(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends earlier, but has one line at least."""
    monkeypatch.setattr(requests, "MAX_PAGE_BYTES", 10)
    async with with_runs(start_server, (2, (1600, 1400))) as server:
        page = await (await server.ladders()).GetStandings(pb.GetStandingsRequest())
        assert (len(page.standings), page.next_page_token) == (1, f"{page.run.run_id}.1")


async def test_a_bots_ratings_are_listed_newest_first(start_server: StartServer) -> None:
    """One for each day, in pages."""
    async with start_server() as server:
        await play(server)
    with Database(server.settings.database) as database:
        database.write(_keep_three_days)
    async with start_server() as server:
        service = await server.ladders()
        found, token = [], ""
        while True:
            request = pb.ListRatingsRequest(bot="ada", page_size=1, page_token=token)
            (rating,) = (page := await service.ListRatings(request)).ratings
            found.append((rating.day, rating.version, rating.elo, rating.margin, rating.games))
            token = page.next_page_token
            if not token:
                break
        assert found == [
            ("2026-03-03", "1", 1530.0, 43.0, 3),
            ("2026-03-02", "1", 1520.0, 42.0, 2),
            ("2026-03-01", "1", 1510.0, 41.0, 1),
        ]


def _keep_three_days(connection: Connection) -> None:
    ladder_id = LadderId(connection.scalars(select(Ladder.id)).one())
    version = connection.scalars(select(BotVersion.id).order_by(BotVersion.id)).first()
    assert version is not None
    days = [
        NewDayRating(date(2026, 3, day), version, 1500.0 + 10 * day, 40.0 + day, day)
        for day in (1, 2, 3)
    ]
    rows = [{"ladder_id": ladder_id, **asdict(day)} for day in days]
    connection.execute(insert(RatingDay), rows)


async def test_head_to_head(start_server: StartServer) -> None:
    """From the first bot's side, by colours; nothing is expected before the first run."""
    async with with_runs(start_server) as server:
        service = await server.ladders()
        request = pb.GetHeadToHeadRequest(bot="ada", opponent="bob")
        score = await service.GetHeadToHead(request)
        won, lost = pb.Score(wins=1), pb.Score(losses=1)
        both = pb.ColorScores(as_black=won, as_white=won)
        ada = pb.RatedVersion(version_id="1", bot="ada", version="1")
        bob = pb.RatedVersion(version_id="2", bot="bob")
        assert score == pb.GetHeadToHeadResponse(
            as_black=won,
            as_white=won,
            version=ada,
            opponent_version=bob,
            without_faults=both,
            openings=[pb.OpeningScores(scores=both)],
            opening_count=1,
            all_versions=both,
        )
        request = pb.GetHeadToHeadRequest(bot="bob", opponent="ada")
        score = await service.GetHeadToHead(request)
        assert (score.version, score.opponent_version) == (bob, ada)
        assert (score.as_black, score.as_white) == (lost, lost)


async def test_head_to_head_is_of_two_versions(start_server: StartServer) -> None:
    """New code has no games: those of all versions stand by themselves, and by the id the old."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        await server.bot("ada", version="2")
        service = await server.ladders()
        request = pb.GetHeadToHeadRequest(bot="ada", opponent="bob")
        rated = await service.GetHeadToHead(request)
        assert (rated.version.version, rated.as_black) == ("1", pb.Score(wins=1))
        request.version_id = "3"
        newest = await service.GetHeadToHead(request)
        assert newest.version == pb.RatedVersion(version_id="3", bot="ada", version="2")
        assert newest.as_black == newest.as_white == pb.Score()
        assert not newest.HasField("expectation")
        assert newest.all_versions == rated.all_versions
        assert newest.all_versions.as_white == pb.Score(wins=1)
        request.version_id = "2"
        with pytest.raises(grpc.aio.AioRpcError, match='"ada" has no version 2'):
            await service.GetHeadToHead(request)


async def test_pair_counts_are_those_of_the_run(start_server: StartServer) -> None:
    """In pages, with both versions' names; a newer run ends the list."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        request = pb.ListPairCountsRequest(page_size=1)
        page = await service.ListPairCounts(request)
        ada = pb.RatedVersion(version_id="1", bot="ada", version="1")
        bob = pb.RatedVersion(version_id="2", bot="bob")
        won, lost = pb.Score(wins=1), pb.Score(losses=1)
        assert list(page.pair_counts) == [pb.PairCount(black=ada, white=bob, score=won)]
        assert page.run.run_id == "1"
        request.page_token = page.next_page_token
        rest = await service.ListPairCounts(request)
        assert list(rest.pair_counts) == [pb.PairCount(black=bob, white=ada, score=lost)]
        assert rest.next_page_token == ""
        publish(server.database, revision=3, elos=(1560, 1440))
        with pytest.raises(grpc.aio.AioRpcError, match="run 2 has taken the place of run 1"):
            await service.ListPairCounts(request)


async def test_hidden_bots_are_exported_without_names(start_server: StartServer) -> None:
    """Their games are part of the run."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        with Database(server.settings.database) as database:
            database.write(partial(change_bot, bot_id=BotId(2), is_hidden=True))
        service = await server.ladders()
        counts = (await service.ListPairCounts(pb.ListPairCountsRequest())).pair_counts
        rows = (await service.ListCovariances(pb.ListCovariancesRequest())).rows
        assert counts[0].white == rows[1].version == pb.RatedVersion(version_id="2")
        assert counts[0].black.bot == "ada"


async def test_covariances_are_listed_row_by_row(start_server: StartServer) -> None:
    """In the order of the versions, each with all; in pages."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        request = pb.ListCovariancesRequest(page_size=1)
        first = await service.ListCovariances(request)
        request.page_token = first.next_page_token
        second = await service.ListCovariances(request)
        assert second.next_page_token == ""
        rows = [*first.rows, *second.rows]
        assert [row.version.bot for row in rows] == ["ada", "bob"]
        assert [list(row.values) for row in rows] == [[5000, 0], [0, 5000]]


async def test_head_to_head_says_what_is_to_be_expected(start_server: StartServer) -> None:
    """100 Elo with a deviation of 100: one deviation, and more with the first move."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        request = pb.GetHeadToHeadRequest(bot="ada", opponent="bob")
        said = (await service.GetHeadToHead(request)).expectation
        assert said.difference == 100
        assert said.margin == pytest.approx(1.96 * 100, rel=1e-3)
        assert said.superiority == pytest.approx(0.8413, abs=1e-4)
        assert said.score_as_white < 0.64 < said.score_as_black < 0.7
        request = pb.GetHeadToHeadRequest(bot="bob", opponent="ada")
        turned = (await service.GetHeadToHead(request)).expectation
        assert turned.difference == -100
        assert turned.score_as_black == pytest.approx(1 - said.score_as_white)


async def test_the_matrix_compares_each_two(start_server: StartServer) -> None:
    """Best first; a cell has the chance to be stronger, the expected score, and the score."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        matrix = await service.GetMatrix(pb.GetMatrixRequest())
        assert [row.standing.bot for row in matrix.rows] == ["ada", "bob"]
        (own, cell), (turned, _) = (row.cells for row in matrix.rows)
        assert (own.superiority, own.expected_score) == (0.5, 0.5)
        assert cell.superiority == pytest.approx(0.8413, abs=1e-4)
        assert turned.superiority == pytest.approx(1 - cell.superiority)
        assert cell.expected_score + turned.expected_score == pytest.approx(1)
        assert (cell.score, turned.score) == (pb.Score(wins=2), pb.Score(losses=2))
        few = await service.GetMatrix(pb.GetMatrixRequest(limit=1))
        assert [row.standing.bot for row in few.rows] == ["ada"]
        one = await service.GetMatrix(pb.GetMatrixRequest(bots=["bob"]))
        assert [row.standing.bot for row in one.rows] == ["bob"]


@asynccontextmanager
async def diagnosed(start_server: StartServer) -> AsyncIterator[ServerInTest]:
    """A server whose ladder has an old run and one with a diagnosis."""
    async with start_server() as server:
        await play(server)
    with Database(server.settings.database) as database:
        publish(database, revision=1, elos=(1600, 1400))
        publish(database, revision=2, elos=(1600, 1400), is_diagnosed=True)
    async with start_server() as server:
        yield server


async def test_the_diagnosis_of_a_run_is_shown(start_server: StartServer) -> None:
    """By the names of versions; what a bot that is not shown takes part in is left out."""
    async with diagnosed(start_server) as server:
        found = await (await server.ladders()).GetDiagnosis(pb.GetDiagnosisRequest())
        assert (found.ladder, found.run.run_id) == ("freestyle-5x5-classical", "2")
        assert (found.chi_square, found.deviance, found.degrees_of_freedom) == (31.5, 30.5, 12.25)
        assert found.pairs_with_enough_games == 20
        (pair,) = found.pairs
        assert (pair.one.bot, pair.one.version, pair.other.bot) == ("ada", "1", "bob")
        assert (pair.games, pair.score, pair.expected_score) == (40, 0.75, 0.5)
        assert (pair.deviations, pair.p_value, pair.sure) == (4.5, 0.001, True)
        (drift,) = found.drifts
        assert (drift.version.bot, drift.elo_per_100_games, drift.sure) == ("bob", -20.5, False)
        assert not found.triples


async def test_a_run_of_before_has_no_diagnosis(start_server: StartServer) -> None:
    """It can be asked for by its number, and says nothing of its fit."""
    async with diagnosed(start_server) as server:
        found = await (await server.ladders()).GetDiagnosis(pb.GetDiagnosisRequest(run_id="1"))
        assert found.run.run_id == "1"
        assert not found.HasField("chi_square")
        assert not found.run.HasField("fit")
        assert not found.pairs


async def test_the_standings_tell_whose_interval_is_too_narrow(start_server: StartServer) -> None:
    """Line by line, and with the run how well it fits."""
    async with diagnosed(start_server) as server:
        table = await (await server.ladders()).GetStandings(pb.GetStandingsRequest())
        assert all(row.depends_on_opponents for row in table.standings)
        assert not any(row.changes_over_time for row in table.standings)
        fit = table.run.fit
        assert (fit.p_value, fit.overdispersion, fit.deviation) == (0.0125, 2.5, 81.5)
        assert (fit.rejected, fit.pairs, fit.triples, fit.drifts) == (True, 1, 2, 3)


@pytest.mark.parametrize("converter", ["line_to_proto", "matrix_row_to_proto"])
async def test_tables_become_messages_off_the_loop(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, converter: str
) -> None:
    """A large one would hold up every game."""
    threads: set[threading.Thread] = set()
    convert = getattr(servicer, converter)

    def noted(row: Any) -> Any:
        threads.add(threading.current_thread())
        return convert(row)

    monkeypatch.setattr(servicer, converter, noted)
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        await service.GetStandings(pb.GetStandingsRequest())
        await service.GetMatrix(pb.GetMatrixRequest())
    assert threads
    assert threading.current_thread() not in threads


async def test_the_writer_does_not_count_the_games_of_a_ladder(start_server: StartServer) -> None:
    """Other games are committed meanwhile."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        with statements(server.database.writer) as written:
            await service.SetAnchors(pb.SetAnchorsRequest(bots=["ada"]))
    assert [words for words in written if "anchor" in words]
    assert not [words for words in written if "count(" in words]


async def test_anchors_make_the_ladder_due_for_a_run(start_server: StartServer) -> None:
    """They are versions, kept until others take their place."""
    async with with_runs(start_server, (2, (1550, 1450))) as server:
        service = await server.ladders()
        response = await service.SetAnchors(pb.SetAnchorsRequest(bots=["bob", "ada"]))
        assert (response.ladder.name, response.ladder.games) == ("freestyle-5x5-classical", 2)
        assert not response.ladder.current
        await service.SetAnchors(pb.SetAnchorsRequest(bots=["bob"]))
    with Database(server.settings.database) as database:
        anchored = database.read(lambda connection: ladders.anchors(connection, LadderId(1)))
    assert len(anchored) == 1


@pytest.mark.parametrize(
    ("method", "request_", "expected"),
    [
        ("GetStandings", pb.GetStandingsRequest(ladder="x"), (Code.NOT_FOUND, 'no ladder "x"')),
        ("ListRatings", pb.ListRatingsRequest(bot="x"), (Code.NOT_FOUND, 'no bot "x"')),
        ("ListRatings", pb.ListRatingsRequest(bot="ada", ladder="x"), (Code.NOT_FOUND, "ladder")),
        (
            "ListRatings",
            pb.ListRatingsRequest(bot="ada", page_token="x"),
            (Code.INVALID_ARGUMENT, "page_token"),
        ),
        (
            "ListRatings",
            pb.ListRatingsRequest(bot="ada", page_token="2026-03-01.x"),
            (Code.INVALID_ARGUMENT, "page_token"),
        ),
        ("GetStandings", pb.GetStandingsRequest(run_id="9"), (Code.NOT_FOUND, "no run 9")),
        ("GetMatrix", pb.GetMatrixRequest(), (Code.FAILED_PRECONDITION, "no run yet")),
        ("GetDiagnosis", pb.GetDiagnosisRequest(), (Code.FAILED_PRECONDITION, "no run yet")),
        ("GetDiagnosis", pb.GetDiagnosisRequest(run_id="9"), (Code.NOT_FOUND, "no run 9")),
        ("GetDiagnosis", pb.GetDiagnosisRequest(ladder="x"), (Code.NOT_FOUND, 'no ladder "x"')),
        ("GetMatrix", pb.GetMatrixRequest(limit=201), (Code.INVALID_ARGUMENT, "limit 201")),
        (
            "GetMatrix",
            pb.GetMatrixRequest(bots=[f"bot-{number}" for number in range(201)]),
            (Code.INVALID_ARGUMENT, "bots: 201 names; at most 200"),
        ),
        (
            "GetHeadToHead",
            pb.GetHeadToHeadRequest(bot="ada", opponent="ada"),
            (Code.INVALID_ARGUMENT, "does not meet itself"),
        ),
        ("SetAnchors", pb.SetAnchorsRequest(bots=["x"]), (Code.NOT_FOUND, 'no bot "x"')),
        (
            "SetAnchors",
            pb.SetAnchorsRequest(bots=list("abcd")),
            (Code.INVALID_ARGUMENT, "at most 3"),
        ),
        (
            "GetHeadToHead",
            pb.GetHeadToHeadRequest(bot="ada", opponent="x"),
            (Code.NOT_FOUND, 'no bot "x"'),
        ),
        (
            "ListLadders",
            pb.ListLaddersRequest(page_size=1001),
            (Code.INVALID_ARGUMENT, "page_size"),
        ),
    ],
)
async def test_what_is_not_there_is_named(
    start_server: StartServer,
    ending: Callable[..., Any],
    method: str,
    request_: Any,
    expected: tuple[Code, str],
) -> None:
    """Ladders, bots and places in lists."""
    async with with_runs(start_server) as server:
        name = f"/meijin.v1.LadderService/{method}"
        end = await ending(await server.channel(), name, request_.SerializeToString(), None)
        code, words = expected
        assert end.code is code
        assert words in end.details


async def test_without_any_ladder_the_error_says_what_makes_one(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """A new server has none."""
    name = "/meijin.v1.LadderService/GetStandings"
    end = await ending(await server.channel(), name, b"", None)
    assert end.code is Code.NOT_FOUND
    assert "rated tournament" in end.details
