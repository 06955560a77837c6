"""Tournaments over the wire, played by scripted bots."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.query_plans import statements

from meijin.game import TimeControl, Variant, encode_moves
from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.views import reports
from meijin.server.views.tournaments import TournamentDetail, tournament_detail
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_to_proto, variant_to_proto

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

Code = grpc.StatusCode
PATIENCE = 20.0
RUNNING, FINISHED, CANCELLED = (
    pb.TOURNAMENT_STATE_RUNNING,
    pb.TOURNAMENT_STATE_FINISHED,
    pb.TOURNAMENT_STATE_CANCELLED,
)
SMALL = Variant(width=5, height=5)


def settings(*bots: str, **changes: Any) -> pb.TournamentSettings:
    """What a tournament is made of, with some of it changed."""
    plain: dict[str, Any] = {
        "bots": bots or ("ada", "bob"),
        "rounds": 2,
        "variant": variant_to_proto(SMALL),
        "time_control": time_control_to_proto(TimeControl.parse("600")),
    }
    return pb.TournamentSettings(**(plain | changes))


async def get(server: ServerInTest, tournament_id: str) -> pb.GetTournamentResponse:
    """One tournament with its crosstable."""
    request = pb.GetTournamentRequest(tournament_id=tournament_id)
    return await (await server.tournaments()).GetTournament(request)


async def state_of(server: ServerInTest, tournament_id: str) -> pb.TournamentState.ValueType:
    """Where a tournament stands."""
    return (await get(server, tournament_id)).tournament.state


async def watch(
    server: ServerInTest, tournament_id: str
) -> AsyncIterator[pb.WatchTournamentResponse]:
    """Everything a watcher is told, to the end."""
    request = pb.WatchTournamentRequest(tournament_id=tournament_id)
    call = (await server.tournaments()).WatchTournament(request)
    async with asyncio.timeout(PATIENCE):
        async for fact in call:
            yield fact


async def test_polls_of_what_has_not_changed_are_one_report(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many ask at once or later; a result, or a void one, makes another."""
    made: list[TournamentDetail] = []

    def noted(*given: Any) -> TournamentDetail:
        made.append(tournament_detail(*given))
        return made[-1]

    monkeypatch.setattr(reports, "tournament_detail", noted)
    black, white = await server.pair(rounds=2)
    game_id = black.start.game_id
    await asyncio.gather(*(get(server, "1") for _ in range(5)))
    assert len(made) == 1
    await black.resign(black.start.game)
    await white.ended()
    await white.started()  # the next one: it changes no score
    answers = [await get(server, "1") for _ in range(3)]
    assert [cell.wins for cell in answers[0].crosstable] in ([1, 0], [0, 1])
    assert answers[0].standings == answers[2].standings
    assert len(made) == 2
    games = await server.games()
    await games.VoidGame(game_service_pb2.VoidGameRequest(game_id=game_id, reason="a test"))
    assert list((await get(server, "1")).crosstable) == []
    assert len(made) == 3


# -- making -----------------------------------------------------------------------


async def test_a_tournament_comes_back_as_it_was_made(server: ServerInTest) -> None:
    """Every setting, what is left out filled in; lists leave the openings out."""
    for name in ("ada", "bob", "cleo"):
        await server.bot(name)
    wanted = settings(
        "cleo",
        "ada",
        "bob",
        name="spring",
        format=pb.TOURNAMENT_FORMAT_GAUNTLET,
        rounds=3,
        seed=2**63 - 1,
        max_games=2,
        unrated=True,
        time_control=time_control_to_proto(TimeControl.parse("60+0.5,5/move")),
        openings=[encode_moves((12, 13)), b""],
    )
    service = await server.tournaments()
    made = (await service.CreateTournament(pb.CreateTournamentRequest(settings=wanted))).tournament
    assert made.settings == wanted
    assert (made.state, made.planned_games, made.finished_games) == (RUNNING, 6, 0)
    assert made.ladder == ""
    assert made.create_time.seconds > 0
    assert not made.HasField("end_time")
    found = (await get(server, made.tournament_id)).tournament
    assert found.settings == wanted
    (listed,) = (await service.ListTournaments(pb.ListTournamentsRequest())).tournaments
    wanted.ClearField("openings")
    assert listed.settings == wanted


async def test_what_is_left_out_has_its_default(server: ServerInTest) -> None:
    """Two rounds of a rated round robin of freestyle on 15x15."""
    for name in ("ada", "bob", "cleo"):
        await server.bot(name)
    control = time_control_to_proto(TimeControl.parse("60"))
    plain = pb.TournamentSettings(bots=["ada", "bob", "cleo"], time_control=control)
    service = await server.tournaments()
    made = (await service.CreateTournament(pb.CreateTournamentRequest(settings=plain))).tournament
    assert (made.planned_games, made.settings.rounds) == (6, 2)
    assert made.settings.format == pb.TOURNAMENT_FORMAT_ROUND_ROBIN
    assert made.settings.variant == variant_to_proto(Variant())
    assert (made.ladder, made.settings.unrated) == ("freestyle-15x15-blitz", False)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"bots": []}, "bots", "at least two"),
        ({"bots": ["ada"]}, "bots", "at least two"),
        ({"bots": ["ada", "ada"]}, "bots", '"ada" is named twice'),
        ({"rounds": 1_000_001}, "rounds", "at most 1000000"),
        ({"format": 9}, "format", "9"),
        ({"name": "n" * 101}, "name", "longer than 100"),
        ({"seed": 2**63}, "seed", "above"),
        ({"max_games": 2**31}, "max_games", "above"),
        ({"variant": game_pb2.Variant(width=23)}, "variant", "width 23"),
        ({"variant": game_pb2.Variant(rule=7)}, "variant", "rule 7"),  # type: ignore[arg-type]  # a later one
        ({"time_control": game_pb2.TimeControl()}, "time_control", "needs"),
        (
            {"time_control": time_control_to_proto(TimeControl.parse("60+86400"))},
            "time_control",
            "increment",
        ),
        ({"openings": [b"\0"]}, "openings", "1 bytes"),
        ({"openings": [encode_moves((1, 1))]}, "openings", "occupied"),
        ({"openings": [encode_moves((25,))]}, "openings", "off the 5x5 board"),
        ({"openings": [encode_moves((0, 5, 1, 6, 2, 7, 3, 8, 4))]}, "openings", "ends the game"),
    ],
)
async def test_an_impossible_tournament_is_refused(
    server: ServerInTest,
    ending: Callable[..., Any],
    changes: dict[str, Any],
    field: str,
    words: str,
) -> None:
    """The error names the field and what is wrong with it, and nothing is made."""
    for name in ("ada", "bob"):
        await server.bot(name)
    request = pb.CreateTournamentRequest(settings=settings(**changes))
    method = "/meijin.v1.TournamentService/CreateTournament"
    end = await ending(await server.channel(), method, request.SerializeToString(), None)
    assert (end.code, end.reason) == (Code.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert field in end.details
    assert words in end.details
    listed = await (await server.tournaments()).ListTournaments(pb.ListTournamentsRequest())
    assert list(listed.tournaments) == []


async def test_an_unknown_bot_is_not_found(
    server: ServerInTest, ending: Callable[..., Any]
) -> None:
    """The error names the bot."""
    await server.bot("ada")
    request = pb.CreateTournamentRequest(settings=settings("ada", "bob"))
    method = "/meijin.v1.TournamentService/CreateTournament"
    end = await ending(await server.channel(), method, request.SerializeToString(), None)
    assert (end.code, end.reason) == (Code.NOT_FOUND, "NOT_FOUND")
    assert 'no bot "bob"' in end.details


async def test_a_repeated_request_makes_no_second_tournament(server: ServerInTest) -> None:
    """However often and at the same time; another id makes another one."""
    for name in ("ada", "bob"):
        await server.bot(name)
    service = await server.tournaments()

    async def create(request_id: str) -> str:
        request = pb.CreateTournamentRequest(settings=settings(), request_id=request_id)
        return (await service.CreateTournament(request)).tournament.tournament_id

    long = "r" * 100
    ids = await asyncio.gather(*(create(long) for _ in range(5)), create("other"))
    assert len(set(ids[:5])) == 1
    assert ids[5] != ids[0]
    assert await create(long) == ids[0]
    assert await create("") != await create("")


async def test_a_request_id_has_its_length(server: ServerInTest) -> None:
    """One that could not be told from another is refused, not cut."""
    for name in ("ada", "bob"):
        await server.bot(name)
    request = pb.CreateTournamentRequest(settings=settings(), request_id="r" * 101)
    with pytest.raises(grpc.aio.AioRpcError, match="request_id") as caught:
        await (await server.tournaments()).CreateTournament(request)
    assert caught.value.code() is Code.INVALID_ARGUMENT


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
    service = await server.tournaments()
    monkeypatch.setattr(Storage, "write", write_and_wait)
    call = service.CreateTournament(pb.CreateTournamentRequest(settings=settings(rounds=1)))
    async with asyncio.timeout(PATIENCE):
        await stored.wait()
        call.cancel()
    await server.until(lambda: not server.tasks("CreateTournament"))
    has_left.set()
    for peer in peers:
        assert await peer.started()


@pytest.mark.parametrize("method", ["GetTournament", "UpdateTournament"])
@pytest.mark.parametrize(
    ("tournament_id", "code"), [("99", Code.NOT_FOUND), ("x", Code.INVALID_ARGUMENT)]
)
async def test_an_unknown_tournament(
    server: ServerInTest, ending: Callable[..., Any], method: str, tournament_id: str, code: Code
) -> None:
    """Not found, or no id at all."""
    state = pb.TOURNAMENT_STATE_CANCELLED
    asked = pb.UpdateTournamentRequest(tournament_id=tournament_id, state=state)
    request = asked.SerializeToString()  # GetTournament does not look at the state
    name = f"/meijin.v1.TournamentService/{method}"
    end = await ending(await server.channel(), name, request, None)
    assert end.code is code
    assert tournament_id in end.details


# -- playing ----------------------------------------------------------------------


async def test_a_whole_tournament(start_server: StartServer, any_database_url: str) -> None:
    """Every planned game is played once, and the crosstable adds up."""
    async with start_server(database_url=any_database_url) as server:
        names = ("ada", "bob", "cleo")
        peers = [await server.bot(name, max_games=4) for name in names]
        tournament = await server.tournament(*names, rounds=4, seed=5)
        await asyncio.gather(*(peer.play_out(8) for peer in peers))
        await server.until_finished(tournament)
        found = await get(server, tournament)
        assert (found.tournament.planned_games, found.tournament.finished_games) == (12, 12)
        assert found.tournament.running_games == 0
        assert found.tournament.end_time.seconds >= found.tournament.create_time.seconds
        cells = {(cell.bot, cell.opponent): cell for cell in found.crosstable}
        assert cells.keys() == {(a, b) for a in names for b in names if a != b}
        for (bot, opponent), cell in cells.items():
            mirror = cells[opponent, bot]
            assert (cell.wins, cell.draws, cell.losses) == (
                mirror.losses,
                mirror.draws,
                mirror.wins,
            )
            assert cell.wins + cell.draws + cell.losses == 4
        assert {fault.bot: fault.faults for fault in found.faults} == dict.fromkeys(names, 0)
        assert {each.bot: each.games for each in found.standings} == dict.fromkeys(names, 8)
        assert sum(each.points for each in found.standings) == 12
        assert found.standings[0].rank == 1
        assert len(found.meetings) == 0
        games = await (await server.games()).ListGames(game_service_pb2.ListGamesRequest())
        pairs = Counter((game.black, game.white) for game in games.games)
        assert set(pairs.values()) == {2}
        assert len(pairs) == 6


async def test_forfeits_are_counted(server: ServerInTest) -> None:
    """The crosstable's losses by fault have a column of their own."""
    black, white = await server.pair(rounds=2)
    first = await black.turn()
    await black.fail(first.game, "boom")
    await white.ended()
    second = await white.turn()
    await white.resign(second.game)
    await black.ended()
    await black.ended()
    tournament = await get(server, "1")
    faults = {fault.bot: fault.faults for fault in tournament.faults}
    assert faults == {black.name: 1, white.name: 0}
    cells = {cell.bot: (cell.wins, cell.losses) for cell in tournament.crosstable}
    assert cells == {black.name: (1, 1), white.name: (1, 1)}


async def test_it_says_what_it_waits_for(server: ServerInTest) -> None:
    """Bots that are away, until they come."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    bob.call.cancel()
    await server.away("bob")
    tournament = await server.tournament("ada", "bob")
    assert (await get(server, tournament)).tournament.waiting_for == "bob is not connected"
    await server.bot("bob")
    await ada.started()
    assert (await get(server, tournament)).tournament.waiting_for == ""


@pytest.mark.settings(grace=timedelta(milliseconds=200))
async def test_a_void_game_is_played_again(server: ServerInTest) -> None:
    """Both bots gone at once is nobody's fault: the same pairing comes back."""
    black, white = await server.pair(openings=[encode_moves((12, 13))], rounds=1)
    for peer in (black, white):
        peer.call.cancel()
        await server.away(peer.name)
    await server.until(lambda: not server.running)
    back = [await server.bot(peer.name) for peer in (black, white)]
    starts = [await peer.started() for peer in back]
    assert [start.color for start in starts] == [game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE]
    assert starts[0].moves == encode_moves((12, 13))
    assert starts[0].game_id != black.start.game_id
    games = await server.games()
    request = game_service_pb2.GetGameRequest(game_id=black.start.game_id)
    old = (await games.GetGame(request)).game
    assert old.state == game_pb2.GAME_STATE_VOID
    assert old.outcome.at_fault == game_pb2.PARTY_NETWORK
    row = (await get(server, "1")).tournament
    assert (row.planned_games, row.finished_games, row.running_games) == (1, 0, 1)


# -- stopping ---------------------------------------------------------------------


async def test_cancelling_voids_and_resuming_goes_on(server: ServerInTest) -> None:
    """Exactly the planned games are finished, whenever the tournament was interrupted."""
    ada, bob = [await server.bot(name, max_games=3) for name in ("ada", "bob")]
    tournament = await server.tournament("ada", "bob", rounds=6)
    for peer in (ada, bob):
        for _ in range(3):
            await peer.started()
    first = await ada.turn()
    await ada.resign(first.game)
    for peer in (ada, bob):
        assert (await peer.ended()).outcome.ending == game_pb2.ENDING_RESIGN
        await peer.started()
    row = await server.cancel(tournament)
    assert (row.state, row.finished_games, row.running_games) == (CANCELLED, 1, 0)
    for peer in (ada, bob):
        ended = [await peer.ended() for _ in range(3)]
        assert {end.outcome.ending for end in ended} == {game_pb2.ENDING_VOID}
        assert {end.outcome.at_fault for end in ended} == {game_pb2.PARTY_OPERATOR}
    row = await server.resume(tournament)
    assert row.state == RUNNING
    await asyncio.gather(ada.play_out(5), bob.play_out(5))
    await server.until_finished(tournament)
    row = (await get(server, tournament)).tournament
    assert (row.planned_games, row.finished_games) == (6, 6)
    games = await (await server.games()).ListGames(game_service_pb2.ListGamesRequest())
    states = Counter(game.state for game in games.games)
    assert states == {game_pb2.GAME_STATE_FINISHED: 6, game_pb2.GAME_STATE_VOID: 3}


async def test_a_change_whose_answer_was_lost_is_made_up_for(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told to try again, and that has the games stop, or start."""
    black, white = await server.pair()
    (game,) = server.running
    tournament = str(game.run.id)

    async def lose_the_answer(storage: Storage, *work: Any, **more: Any) -> Any:
        monkeypatch.undo()
        await storage.write(*work, **more)
        raise StoreAwayError("the database does not answer; try again")

    for change in (server.cancel, server.resume):
        monkeypatch.setattr(Storage, "write", lose_the_answer)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await change(tournament)
        assert caught.value.code() is Code.UNAVAILABLE
        await change(tournament)
        if change == server.cancel:
            assert (await black.ended()).outcome.ending == game_pb2.ENDING_VOID
    await black.started()
    await white.started()


async def test_a_tournament_is_cancelled_and_resumed_once(server: ServerInTest) -> None:
    """A second time is the wrong state, and says which it is in."""
    await server.bot("ada")
    await server.bot("bob")
    tournament = await server.tournament("ada", "bob")
    with pytest.raises(grpc.aio.AioRpcError, match="is running") as caught:
        await server.resume(tournament)
    assert caught.value.code() is Code.FAILED_PRECONDITION
    await server.cancel(tournament)
    with pytest.raises(grpc.aio.AioRpcError, match="is cancelled"):
        await server.cancel(tournament)
    await server.resume(tournament)
    with pytest.raises(grpc.aio.AioRpcError, match="is running"):
        await server.resume(tournament)


async def test_the_writer_does_not_count_the_games_of_a_tournament(server: ServerInTest) -> None:
    """Other games are committed while a large one is cancelled and resumed."""
    for name in ("ada", "bob"):
        await server.bot(name)
    tournament = await server.tournament("ada", "bob")
    with statements(server.database.writer) as written:
        await server.cancel(tournament)
        await server.resume(tournament)
    assert sum("UPDATE tournament" in words for words in written) == 2
    assert not [words for words in written if "FROM game" in words or "FROM pairing" in words]


async def test_cancelling_and_resuming_at_once_loses_nothing(server: ServerInTest) -> None:
    """Whoever comes first, the tournament can be played to its end."""
    ada, bob = [await server.bot(name, max_games=2) for name in ("ada", "bob")]
    tournament = await server.tournament("ada", "bob", rounds=4)
    await ada.started()
    for _ in range(5):
        await asyncio.gather(
            server.cancel(tournament), server.resume(tournament), return_exceptions=True
        )
        if await state_of(server, tournament) == CANCELLED:
            await server.resume(tournament)
    playing = [asyncio.create_task(peer.play_out(99)) for peer in (ada, bob)]
    await server.until_finished(tournament)
    for task in playing:
        task.cancel()
    row = (await get(server, tournament)).tournament
    assert (row.planned_games, row.finished_games) == (4, 4)


async def test_cancelling_comes_to_an_end_while_others_play(server: ServerInTest) -> None:
    """A busy server answers too."""
    peers = [await server.bot(name, max_games=8) for name in ("ada", "bob")]
    busy = await server.tournament("ada", "bob", rounds=400, variant=Variant())
    playing = [asyncio.create_task(peer.play_out(400)) for peer in peers]
    await server.bot("cleo")
    await server.bot("dan")
    tournament = await server.tournament("cleo", "dan")
    async with asyncio.timeout(PATIENCE):
        assert (await server.cancel(tournament)).state == CANCELLED
    assert await state_of(server, busy) == RUNNING
    for task in playing:
        task.cancel()


# -- listing and watching ---------------------------------------------------------


async def test_tournaments_are_listed_newest_first_in_pages(server: ServerInTest) -> None:
    """Each page says where the next begins."""
    await server.bot("ada")
    await server.bot("bob")
    made = [await server.tournament("ada", "bob") for _ in range(5)]
    service = await server.tournaments()
    listed, token = [], ""
    for size in (2, 2, 1):
        request = pb.ListTournamentsRequest(page_size=2, page_token=token)
        page = await service.ListTournaments(request)
        assert len(page.tournaments) == size
        listed += [row.tournament_id for row in page.tournaments]
        token = page.next_page_token
    assert token == ""
    assert listed == made[::-1]


async def test_a_watcher_is_told_every_game_and_the_end(server: ServerInTest) -> None:
    """Also when several games end in one breath."""
    ada, bob = [await server.bot(name, max_games=4) for name in ("ada", "bob")]
    bob.call.cancel()
    await server.away("bob")
    tournament = await server.tournament("ada", "bob", rounds=4)
    facts: list[pb.WatchTournamentResponse] = []
    watching = asyncio.Event()

    async def follow() -> None:
        async for fact in watch(server, tournament):
            facts.append(fact)
            watching.set()

    task = asyncio.create_task(follow())
    await watching.wait()
    assert facts[0].tournament.state == RUNNING
    assert facts[0].tournament.waiting_for == "bob is not connected"
    bob = await server.bot("bob", max_games=4)
    games = [(await ada.started()).game for _ in range(4)]
    resigns = [play_pb.Resign(game=game) for game in games]
    await ada.write(actions=play_pb.Actions(resigns=resigns))
    await task
    kinds = [fact.WhichOneof("fact") for fact in facts]
    assert kinds[0] == "tournament"
    assert Counter(kinds[1:]) == {"game_started": 4, "game_ended": 4, "tournament": 1}
    assert kinds[-1] == "tournament"
    last = facts[-1].tournament
    assert (last.state, last.finished_games) == (FINISHED, 4)
    started = {fact.game_started.game_id for fact in facts if fact.HasField("game_started")}
    ended = [fact.game_ended for fact in facts if fact.HasField("game_ended")]
    assert {game.game_id for game in ended} == started
    for game in ended:
        assert (game.state, game.outcome.ending) == (
            game_pb2.GAME_STATE_FINISHED,
            game_pb2.ENDING_RESIGN,
        )
        assert game.end_time.seconds > 0
        assert len(game.moves) == 0


async def test_a_watcher_sees_a_cancelled_tournament_end(server: ServerInTest) -> None:
    """With all the games that became void, or with none."""
    ada = await server.bot("ada", max_games=3)
    await server.bot("bob", max_games=3)
    for rounds in (3, 1):
        tournament = await server.tournament("ada", "bob", rounds=rounds)
        if rounds == 3:
            for _ in range(3):
                await ada.started()
        watching = watch(server, tournament)
        assert (await anext(watching)).tournament.state == RUNNING
        if rounds == 1:
            await ada.started()
            ada.call.cancel()
            await server.away("ada")
            await server.cancel(tournament)
        else:
            await server.cancel(tournament)
        facts = [fact async for fact in watching]
        ended = [fact.game_ended for fact in facts if fact.HasField("game_ended")]
        assert [game.state for game in ended] == [game_pb2.GAME_STATE_VOID] * rounds
        assert facts[-1].tournament.state == CANCELLED


async def test_a_tournament_that_waits_ends_for_its_watchers_when_it_is_cancelled(
    server: ServerInTest,
) -> None:
    """There is no game whose end would tell them."""
    await server.bot("ada")
    bob = await server.bot("bob")
    bob.call.cancel()
    await server.away("bob")
    tournament = await server.tournament("ada", "bob")
    watching = watch(server, tournament)
    await anext(watching)
    await server.cancel(tournament)
    facts = [fact async for fact in watching]
    assert [fact.tournament.state for fact in facts] == [CANCELLED]


async def test_watching_what_is_over_ends_at_once(server: ServerInTest) -> None:
    """The one message says how it ended."""
    await server.bot("ada")
    await server.bot("bob")
    tournament = await server.tournament("ada", "bob")
    await server.cancel(tournament)
    facts = [fact async for fact in watch(server, tournament)]
    assert [fact.tournament.state for fact in facts] == [CANCELLED]


async def test_a_watcher_that_leaves_is_forgotten(server: ServerInTest) -> None:
    """Nothing is kept for it."""
    await server.bot("ada")
    await server.bot("bob")
    tournament = await server.tournament("ada", "bob")
    request = pb.WatchTournamentRequest(tournament_id=tournament)
    call = (await server.tournaments()).WatchTournament(request)
    await call.read()
    assert server.parts.feed._subscribers
    call.cancel()
    await server.until(lambda: not server.parts.feed._subscribers)
