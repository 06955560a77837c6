"""Ladders over the wire, with runs that were published before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import Connection, select

from meijin.game import Variant
from meijin.store import Database, ladders
from meijin.store.ladders import NewRating, NewRun
from meijin.store.tables import BotVersion, BotVersionId, Ladder, LadderId
from meijin.v1 import ladder_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import House, Serve

Code = grpc.StatusCode
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


async def play(house: House) -> None:
    """Have ada win both games against bob on one ladder, and none on another."""
    ada, bob = await house.bot("ada", version="1"), await house.bot("bob")
    await house.tournament("ada", "bob", rounds=2)
    for _ in range(2):
        start = await bob.started()
        await bob.resign(start.game)
        await ada.ended()
        await bob.ended()
    await house.until_finished("1")


def rating(version: int, rank: int, elo: float) -> NewRating:
    """A line of a run."""
    return NewRating(BotVersionId(version), rank, elo, elo - 1, 2, 3 - rank, 0, rank - 1, 1)


def publish(database: Database, *, revision: int, elos: tuple[float, float]) -> None:
    """Publish a run over the two bots of the only ladder."""

    def work(connection: Connection) -> None:
        ladder_id = connection.scalars(select(Ladder.id)).one()
        versions = connection.scalars(select(BotVersion.id).order_by(BotVersion.id)).all()
        run = NewRun(
            ladder_id=LadderId(ladder_id),
            revision=revision,
            games=revision,
            checksum=f"checksum {revision}",
            algorithm="by hand",
            parameters={},
            create_time=NOON + timedelta(minutes=revision),
            ratings=[
                replace(rating(versions[n], n + 1, elo), rank=n + 1) for n, elo in enumerate(elos)
            ],
        )
        assert ladders.publish(connection, run)

    database.write(work)


def with_runs(serve: Serve, script: Any, *runs: tuple[int, tuple[float, float]]) -> None:
    """Run a script on a server where two games were played and these runs published."""
    serve(play)
    with Database(serve.settings().database) as database:
        for revision, elos in runs:
            publish(database, revision=revision, elos=elos)
    serve(script)


def test_the_published_standings_are_shown(serve: Serve) -> None:
    """Best first, with the run they are from; the only ladder needs no name."""

    async def script(house: House) -> None:
        service = await house.ladders()
        for name in ("", "freestyle-5x5"):
            table = await service.GetStandings(pb.GetStandingsRequest(ladder=name))
            assert table.ladder == pb.Ladder(name="freestyle-5x5", games=2, current=True)
            assert (table.run.games, table.run.checksum) == (2, "checksum 2")
            assert table.run.create_time.ToDatetime(UTC) == NOON + timedelta(minutes=2)
            assert [(row.rank, row.bot, row.version) for row in table.standings] == [
                (1, "ada", "1"),
                (2, "bob", ""),
            ]
            best = table.standings[0]
            assert (best.elo, best.classic_elo) == (1612.5, 1611.5)
            assert (best.games, best.wins, best.draws, best.losses, best.faults) == (2, 2, 0, 0, 1)

    with_runs(serve, script, (2, (1612.5, 1387.5)))


def test_a_ladder_without_a_run_has_no_standings(serve: Serve) -> None:
    """Before the first run, and while the published one is older than the games."""

    async def script(house: House) -> None:
        table = await (await house.ladders()).GetStandings(pb.GetStandingsRequest())
        assert not table.HasField("run")
        assert list(table.standings) == []
        assert (table.ladder.games, table.ladder.current) == (2, False)

    with_runs(serve, script)


def test_ladders_are_listed(serve: Serve) -> None:
    """By name, with their games, in pages; one that is behind is not current."""

    async def script(house: House) -> None:
        await house.bot("ada", version="1")
        await house.bot("bob")
        await house.tournament("ada", "bob", variant=Variant(width=6, height=6))
        await house.tournament("ada", "bob", variant=Variant(width=7, height=7), unrated=True)
        service = await house.ladders()
        page = await service.ListLadders(pb.ListLaddersRequest(page_size=1))
        assert [row.name for row in page.ladders] == ["freestyle-5x5"]
        assert (page.ladders[0].games, page.ladders[0].current) == (2, False)
        rest = await service.ListLadders(pb.ListLaddersRequest(page_token=page.next_page_token))
        assert [row.name for row in rest.ladders] == ["freestyle-6x6"]
        assert (rest.ladders[0].games, rest.ladders[0].current) == (0, True)
        assert rest.next_page_token == ""

    with_runs(serve, script, (1, (1600, 1400)))


def test_a_bots_ratings_are_listed_newest_first(serve: Serve) -> None:
    """One for each run, in pages."""

    async def script(house: House) -> None:
        service = await house.ladders()
        elos, token = [], ""
        while True:
            request = pb.ListRatingsRequest(bot="ada", page_size=1, page_token=token)
            page = await service.ListRatings(request)
            assert len(page.ratings) == 1
            elos.append(page.ratings[0].standing.elo)
            assert page.ratings[0].standing.bot == "ada"
            assert page.ratings[0].run.run_id
            token = page.next_page_token
            if not token:
                break
        assert elos == [1650, 1600]

    with_runs(serve, script, (1, (1600, 1400)), (2, (1650, 1350)))


def test_head_to_head(serve: Serve) -> None:
    """From the first bot's side, by colours."""

    async def script(house: House) -> None:
        service = await house.ladders()
        request = pb.GetHeadToHeadRequest(bot="ada", opponent="bob")
        score = await service.GetHeadToHead(request)
        assert score == pb.GetHeadToHeadResponse(wins_as_black=1, wins_as_white=1)
        request = pb.GetHeadToHeadRequest(bot="bob", opponent="ada")
        score = await service.GetHeadToHead(request)
        assert score == pb.GetHeadToHeadResponse(losses_as_black=1, losses_as_white=1)

    with_runs(serve, script)


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
            pb.ListRatingsRequest(bot="ada", page_token="1.x"),
            (Code.INVALID_ARGUMENT, "page_token"),
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
def test_what_is_not_there_is_named(
    serve: Serve, ending: Callable[..., Any], method: str, request_: Any, expected: tuple[Code, str]
) -> None:
    """Ladders, bots and places in lists."""

    async def script(house: House) -> None:
        name = f"/meijin.v1.LadderService/{method}"
        end = await ending(await house.channel(), name, request_.SerializeToString(), None)
        code, words = expected
        assert end.code is code
        assert words in end.details

    with_runs(serve, script)


def test_without_any_ladder_the_error_says_what_makes_one(
    serve: Serve, ending: Callable[..., Any]
) -> None:
    """A new server has none."""

    async def script(house: House) -> None:
        name = "/meijin.v1.LadderService/GetStandings"
        end = await ending(await house.channel(), name, b"", None)
        assert end.code is Code.NOT_FOUND
        assert "rated tournament" in end.details

    serve(script)
