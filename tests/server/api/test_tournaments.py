"""Tournaments over the wire, played by scripted bots."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.conftest import PATIENCE
from tests.query_plans import statements
from tests.server_in_test import SMALL, WATCH

from meijin.game import TimeControl, Variant, encode_moves
from meijin.server.api.services import tournaments
from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.report import Report
from meijin.server.tournaments.formats.schedule import RoundRobin
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

if TYPE_CHECKING:
    from tests.peer import Peer
    from tests.server.conftest import StartServer
    from tests.server_in_test import ServerInTest

RUNNING, FINISHED, CANCELLED = (
    pb.TOURNAMENT_STATE_RUNNING,
    pb.TOURNAMENT_STATE_FINISHED,
    pb.TOURNAMENT_STATE_CANCELLED,
)
VOID = game_pb2.GAME_STATE_VOID
CREATE = "TournamentService/CreateTournament"


def settings(*bots: str, **changes: Any) -> pb.TournamentSettings:
    """What a tournament is made of, with some of it changed."""
    plain: dict[str, Any] = {
        "bots": bots or ("ada", "bob"),
        "rounds": 2,
        "variant": variant_to_proto(SMALL),
        "time_control": time_control_to_proto(TimeControl.parse("600")),
    }
    return pb.TournamentSettings(**(plain | changes))


async def without_bob(server: ServerInTest) -> str:
    """A tournament that waits for one of its two bots."""
    await server.bot("ada", max_games=4)
    bob = await server.bot("bob")
    bob.call.cancel()
    await server.away("bob")
    return await server.tournament("ada", "bob", rounds=4)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What reports on round robins are made of, as they are made."""
    given: list[Any] = []
    report = RoundRobin.report

    def noted(*parts: Any) -> Report:
        given.append(parts)
        return report(*parts)

    monkeypatch.setattr(RoundRobin, "report", noted)
    return given


async def test_polls_of_what_has_not_changed_are_one_report(
    server: ServerInTest, made: list[Any]
) -> None:
    """However many ask at once or later; a result, or a void one, makes another."""
    black, white = await server.pair(rounds=2)
    game_id = black.start.game_id
    await asyncio.gather(*(server.report("1") for _ in range(5)))
    assert len(made) == 1
    await black.resign(black.start.game)
    await white.ended()
    await white.started()  # the next one: it changes no score
    answers = [await server.report("1") for _ in range(3)]
    assert [cell.wins for cell in answers[0].crosstable] in ([1, 0], [0, 1])
    assert answers[0].standings == answers[2].standings
    assert len(made) == 2
    await server.ask("GameService/VoidGame", game_id=game_id, reason="a test")
    assert list((await server.report("1")).crosstable) == []
    assert len(made) == 3


# -- making -----------------------------------------------------------------------


async def test_a_tournament_comes_back_as_it_was_made(server: ServerInTest) -> None:
    """Every setting; lists leave the openings out, and what is left out has its default."""
    for name in ("ada", "bob", "cleo"):
        await server.bot(name)
    wanted = settings(
        "cleo",
        "ada",
        "bob",
        name="spring",
        format=pb.TOURNAMENT_FORMAT_GAUNTLET,
        rounds=3,
        seed=2**53 - 1,
        max_games=2,
        unrated=True,
        time_control=time_control_to_proto(TimeControl.parse("60+0.5,5/move")),
        openings=[encode_moves((12, 13)), b""],
        adjudication=pb.Adjudication(
            resign=pb.ResignRule(score=100, moves=2),
            draw=pb.DrawRule(score=0, moves=3, from_ply=2),
        ),
    )
    made = (await server.ask(CREATE, settings=wanted)).tournament
    assert made.settings == wanted
    assert (made.state, made.planned_games, made.finished_games) == (RUNNING, 6, 0)
    assert (made.ladder, made.HasField("end_time")) == ("", False)
    assert made.create_time.seconds > 0
    assert (await server.report(made.tournament_id)).tournament.settings == wanted
    (listed,) = (await server.ask("TournamentService/ListTournaments")).tournaments
    wanted.ClearField("openings")
    assert listed.settings == wanted
    plain = pb.TournamentSettings(
        bots=["ada", "bob", "cleo"], time_control=time_control_to_proto(TimeControl.parse("60"))
    )
    made = (await server.ask(CREATE, settings=plain)).tournament
    assert (made.planned_games, made.settings.rounds) == (6, 2)
    assert made.settings.format == pb.TOURNAMENT_FORMAT_ROUND_ROBIN
    assert made.settings.variant == variant_to_proto(Variant())
    assert (made.ladder, made.settings.unrated) == ("freestyle-15x15-blitz", False)


async def test_a_repeated_request_makes_no_second_tournament(server: ServerInTest) -> None:
    """However often and at the same time; another id makes another one."""
    for name in ("ada", "bob"):
        await server.bot(name)

    async def create(request_id: str) -> str:
        made = await server.ask(CREATE, settings=settings(), request_id=request_id)
        return str(made.tournament.tournament_id)

    long = "r" * 100
    ids = await asyncio.gather(*(create(long) for _ in range(5)), create("other"))
    assert len(set(ids[:5])) == 1
    assert ids[5] != ids[0]
    assert await create(long) == ids[0]
    assert await create("") != await create("")


async def test_a_tournament_is_played_though_its_maker_has_left(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that gives up while the answer is on its way stops nothing."""
    write = Storage.write
    stored, has_left = asyncio.Event(), asyncio.Event()

    async def write_and_wait(storage: Storage, *work: Any, **more: Any) -> Any:
        result = await write(storage, *work, **more)
        stored.set()
        await has_left.wait()
        return result

    peers = [await server.bot(name) for name in ("ada", "bob")]
    monkeypatch.setattr(Storage, "write", write_and_wait)
    call = asyncio.ensure_future(server.ask(CREATE, settings=settings(rounds=1)))
    async with asyncio.timeout(PATIENCE):
        await stored.wait()
        call.cancel()
    await server.until(lambda: not server.tasks("CreateTournament"))
    has_left.set()
    for peer in peers:
        assert await peer.started()


# -- playing ----------------------------------------------------------------------


async def test_a_whole_tournament(start_server: StartServer, any_database_url: str) -> None:
    """Every planned game is played once, and the crosstable adds up."""
    async with start_server(database_url=any_database_url) as server:
        names = ("ada", "bob", "cleo")
        peers = [await server.bot(name, max_games=4) for name in names]
        tournament = await server.tournament(*names, rounds=4, seed=5)
        await asyncio.gather(*(peer.play_out(8) for peer in peers))
        await server.until_finished(tournament)
        found = await server.report(tournament)
        row = found.tournament
        assert (row.planned_games, row.finished_games, row.running_games) == (12, 12, 0)
        assert row.end_time.seconds >= row.create_time.seconds
        cells = {(cell.bot, cell.opponent): cell for cell in found.crosstable}
        assert cells.keys() == {(a, b) for a in names for b in names if a != b}
        for (bot, opponent), cell in cells.items():
            other = cells[opponent, bot]
            assert (cell.wins, cell.draws) == (other.losses, other.draws)
            assert cell.wins + cell.draws + cell.losses == 4
        assert {fault.bot: fault.faults for fault in found.faults} == dict.fromkeys(names, 0)
        assert {each.bot: each.games for each in found.standings} == dict.fromkeys(names, 8)
        assert sum(each.points for each in found.standings) == 12
        assert found.standings[0].rank == 1
        games = (await server.ask("GameService/ListGames")).games
        pairs = Counter((game.black, game.white) for game in games)
        assert (set(pairs.values()), len(pairs)) == ({2}, 6)


# -- stopping ---------------------------------------------------------------------


async def test_cancelling_voids_and_resuming_goes_on(server: ServerInTest) -> None:
    """Exactly the planned games are finished, whenever the tournament was interrupted."""
    ada, bob = [await server.bot(name, max_games=3) for name in ("ada", "bob")]
    tournament = await server.tournament("ada", "bob", rounds=6)
    for peer in (ada, bob):
        for _ in range(3):
            await peer.started()
    await ada.resign((await ada.turn()).game)
    for peer in (ada, bob):
        assert (await peer.ended()).outcome.ending == game_pb2.ENDING_RESIGN
        await peer.started()
    row = await server.cancel(tournament)
    assert (row.state, row.finished_games, row.running_games) == (CANCELLED, 1, 0)
    for peer in (ada, bob):
        ended = [(await peer.ended()).outcome for _ in range(3)]
        assert {each.ending for each in ended} == {game_pb2.ENDING_VOID}
        assert {each.at_fault for each in ended} == {game_pb2.PARTY_OPERATOR}
    assert (await server.resume(tournament)).state == RUNNING
    await asyncio.gather(ada.play_out(5), bob.play_out(5))
    await server.until_finished(tournament)
    row = (await server.report(tournament)).tournament
    assert (row.planned_games, row.finished_games) == (6, 6)
    games = (await server.ask("GameService/ListGames")).games
    assert Counter(game.state for game in games) == {game_pb2.GAME_STATE_FINISHED: 6, VOID: 3}


async def test_a_change_whose_answer_was_lost_is_made_up_for(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told to try again, and that has the games stop, or start."""
    black, white = await server.pair()
    tournament = str(server.running[0].run.id)

    async def lose_the_answer(storage: Storage, *work: Any, **more: Any) -> Any:
        monkeypatch.undo()
        await storage.write(*work, **more)
        raise StoreAwayError("the database does not answer; try again")

    for change in (server.cancel, server.resume):
        monkeypatch.setattr(Storage, "write", lose_the_answer)
        with pytest.raises(grpc.aio.AioRpcError, match="try again"):
            await change(tournament)
        await change(tournament)
        if change == server.cancel:
            assert (await black.ended()).outcome.ending == game_pb2.ENDING_VOID
    await black.started()
    await white.started()


async def test_a_tournament_is_cancelled_and_resumed_once(server: ServerInTest) -> None:
    """A second time is the wrong state; the writer counts no games meanwhile."""
    for name in ("ada", "bob"):
        await server.bot(name)
    tournament = await server.tournament("ada", "bob")
    with statements(server.database.writer) as written:
        await server.cancel(tournament)
        with pytest.raises(grpc.aio.AioRpcError, match="is cancelled"):
            await server.cancel(tournament)
        await server.resume(tournament)
        with pytest.raises(grpc.aio.AioRpcError, match="is running"):
            await server.resume(tournament)
    assert sum("UPDATE tournament" in words for words in written) == 2
    assert not [words for words in written if "FROM game" in words or "FROM pairing" in words]


async def test_cancelling_and_resuming_at_once_loses_nothing(server: ServerInTest) -> None:
    """Whoever comes first, the tournament can be played to its end."""
    players = [await server.bot(name, max_games=2) for name in ("cleo", "dan")]
    tournament = await server.tournament("cleo", "dan", rounds=4)
    await players[0].started()
    async with asyncio.timeout(PATIENCE):
        for _ in range(5):
            await asyncio.gather(
                server.cancel(tournament), server.resume(tournament), return_exceptions=True
            )
            if (await server.report(tournament)).tournament.state == CANCELLED:
                await server.resume(tournament)
    playing = [asyncio.create_task(peer.play_out(99)) for peer in players]
    await server.until_finished(tournament)
    for task in playing:
        task.cancel()
    row = (await server.report(tournament)).tournament
    assert (row.planned_games, row.finished_games) == (4, 4)


# -- listing and watching ---------------------------------------------------------


async def test_tournaments_are_listed_newest_first_in_pages(server: ServerInTest) -> None:
    for name in ("ada", "bob"):
        await server.bot(name)
    made = [await server.tournament("ada", "bob") for _ in range(3)]
    first = await server.ask("TournamentService/ListTournaments", page_size=2)
    token = first.next_page_token
    rest = await server.ask("TournamentService/ListTournaments", page_size=2, page_token=token)
    listed = [[row.tournament_id for row in page.tournaments] for page in (first, rest)]
    assert listed == [made[:0:-1], made[:1]]
    assert rest.next_page_token == ""


async def test_list_tells_leaders_and_tests(
    server: ServerInTest, made: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is asked for, and read anew only where a game has ended; nobody leads among equals."""
    ada, bob = [await server.bot(name, max_games=1) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", rounds=2, max_games=1)

    async def lose(loser: Peer) -> None:
        for peer in (ada, bob):
            await peer.started()
        await loser.resign(loser.start.game)
        await asyncio.gather(ada.ended(), bob.ended())

    async def listed(**asked: Any) -> list[tuple[str, float]]:
        page = await server.ask("TournamentService/ListTournaments", **asked)
        return [(each.leader, each.leader_points) for each in page.tournaments]

    nobody = ("", 0.0)
    for loser, leader in ((bob, ("ada", 1.0)), (ada, nobody)):
        await lose(loser)
        assert [await listed(with_leaders=True) for _ in range(3)] == [[leader]] * 3
    assert (len(made), await listed()) == (2, [nobody])
    sprt = pb.Sprt(elo0=0, elo1=100)
    await server.tournament("ada", "bob", format=pb.TOURNAMENT_FORMAT_SPRT, sprt=sprt, rounds=0)
    for _ in range(2):
        await lose(bob)
    page = await server.ask("TournamentService/ListTournaments", with_leaders=True)
    assert (page.tournaments[0].sprt.wins, page.tournaments[1].HasField("sprt")) == (2, False)
    monkeypatch.setattr(tournaments, "LED", 1)
    first = await server.ask("TournamentService/ListTournaments", with_leaders=True, page_size=2)
    assert (len(first.tournaments), bool(first.next_page_token)) == (1, True)


async def test_a_tournament_waits_for_a_bot_that_is_not_ready(server: ServerInTest) -> None:
    """It says so, until the bot does."""
    ada, _ = await server.bot("ada", announces_readiness=True), await server.bot("bob")
    tournament = await server.tournament("ada", "bob", rounds=2)
    await ada.resign((await ada.started()).game)
    await ada.ended()
    words = "ada has not said that it is ready for another game"
    assert (await server.report(tournament)).tournament.waiting_for == words
    await ada.write(actions=play_pb.Actions(ready=1))
    await ada.started()
    assert (await server.report(tournament)).tournament.waiting_for == ""


async def test_a_watcher_is_told_every_game_and_the_end(server: ServerInTest) -> None:
    """Also when several games end in one breath; before that, whom they wait for."""
    tournament = await without_bob(server)
    watching = server.facts(WATCH, tournament_id=tournament)
    first = (await anext(watching)).tournament
    assert (first.state, first.waiting_for) == (RUNNING, "bob is not connected")
    await server.bot("bob", max_games=4)
    ada = await server.bot("ada", max_games=4)
    games = [(await ada.started()).game for _ in range(4)]
    assert (await server.report(tournament)).tournament.waiting_for == ""
    resigns = [play_pb.Resign(game=game) for game in games]
    await ada.write(actions=play_pb.Actions(resigns=resigns))
    facts = [fact async for fact in watching]
    kinds = [fact.WhichOneof("fact") for fact in facts]
    assert Counter(kinds) == {"game_started": 4, "game_ended": 4, "tournament": 1}
    assert kinds[-1] == "tournament"
    last = facts[-1].tournament
    assert (last.state, last.finished_games) == (FINISHED, 4)
    started = {fact.game_started.game_id for fact in facts if fact.HasField("game_started")}
    ended = [fact.game_ended for fact in facts if fact.HasField("game_ended")]
    assert {game.game_id for game in ended} == started
    for game in ended:
        assert game.state == game_pb2.GAME_STATE_FINISHED
        assert game.outcome.ending == game_pb2.ENDING_RESIGN
        assert (game.end_time.seconds > 0, len(game.moves)) == (True, 0)


async def test_a_watcher_sees_a_cancelled_tournament_end(server: ServerInTest) -> None:
    """With all the games that became void; one who comes later hears it at once."""
    ada = await server.bot("ada", max_games=3)
    await server.bot("bob", max_games=3)
    tournament = await server.tournament("ada", "bob", rounds=3)
    for _ in range(3):
        await ada.started()
    watching = server.facts(WATCH, tournament_id=tournament)
    assert (await anext(watching)).tournament.state == RUNNING
    await server.cancel(tournament)
    facts = [fact async for fact in watching]
    ended = [fact.game_ended for fact in facts if fact.HasField("game_ended")]
    assert [game.state for game in ended] == [VOID] * 3
    assert facts[-1].tournament.state == CANCELLED
    late = [fact async for fact in server.facts(WATCH, tournament_id=tournament)]
    assert [fact.tournament.state for fact in late] == [CANCELLED]


async def test_a_tournament_that_waits_ends_for_its_watchers_when_it_is_cancelled(
    server: ServerInTest,
) -> None:
    """There is no game whose end would tell them."""
    tournament = await without_bob(server)
    watching = server.facts(WATCH, tournament_id=tournament)
    await anext(watching)
    await server.cancel(tournament)
    facts = [fact async for fact in watching]
    assert [fact.tournament.state for fact in facts] == [CANCELLED]


async def test_a_watcher_that_leaves_is_forgotten(server: ServerInTest) -> None:
    tournament = await without_bob(server)
    call = server.watch(WATCH, tournament_id=tournament)
    await call.read()
    assert server.parts.feed._subscribers
    call.cancel()
    await server.until(lambda: not server.parts.feed._subscribers)
