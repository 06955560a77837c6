"""A server that knows less of its games than their bots, after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from structlog.testing import capture_logs

from meijin.bots import Bot, Capabilities, Client, Position
from meijin.bots.sdk.backoff import Backoff
from meijin.game import SWAP2, encode_moves
from meijin.server.match.games import Games
from meijin.testing.peer import Peer, play_moves
from meijin.testing.server import SMALL, ServerInTest
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import StartServer

SWAP = replace(SMALL, opening_rule=SWAP2)
MOVES = (0, 5, 1, 6, 2, 7, 3, 8)
"""On the small board; 4 wins."""

LOST = "the server has lost moves that it had acknowledged"


def lose_moves(monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    """Have the next server find so many moves of each game, whatever is stored."""
    restore = Games.restore

    def restore_some(self: Games, game: Any, moves: Sequence[Any]) -> None:
        restore(self, game, moves[:left])

    monkeypatch.setattr(Games, "restore", restore_some)


def known(ply: int, *answer: int, moves: Sequence[int] = MOVES) -> pb.KnownGame:
    """What a bot knows that was told of so many moves, and has answered with these stones."""
    told = encode_moves(moves[:ply])
    message = pb.KnownGame(ply=ply, moves_crc=crc32(told))
    if answer:
        message.answered_crc = crc32(told + encode_moves(answer))
    return message


async def leave_game(server: ServerInTest, plies: int) -> tuple[str, str, str]:
    """Play so many moves of a game; returns its id and the names of black and white."""
    peers = await server.pair()
    await play_moves(peers, MOVES[:plies])
    await peers[plies % 2].turn()
    return peers[0].start.game_id, peers[0].name, peers[1].name


async def faults(server: ServerInTest, game_id: int) -> Sequence[fault_service_pb2.Fault]:
    """What the ledger has of a game."""
    request = fault_service_pb2.ListFaultsRequest(game_id=str(game_id))
    return (await (await server.faults()).ListFaults(request)).faults


async def is_asked(peer: Peer) -> bool:
    """Whether a turn was sent to a bot before now: its own nonsense is refused last."""
    await peer.write(actions=pb.Actions(resigns=[pb.Resign(game=12345)]))
    assert (await peer.notice()).game == 12345
    return peer.unread("turns") > 0


# -- bots of the SDK ----------------------------------------------------------------


class PatientBot(Bot):
    """Takes the first free cell, and waits at ply 8 until it may go on."""

    capabilities = Capabilities(min_size=5)

    def __init__(self, name: str) -> None:
        self.name = name
        self.may_go_on = asyncio.Event()

    async def choose(self, position: Position) -> int:
        """Take it."""
        if position.board.ply >= 8:
            await self.may_go_on.wait()
        return position.legal_cells()[0]


def let_go_on(bots: Sequence[PatientBot]) -> None:
    """Have bots wait no more."""
    for bot in bots:
        bot.may_go_on.set()


async def begin(server: ServerInTest) -> str:
    """Have the two play until they wait; returns the tournament."""
    await server.until(lambda: len(server.parts.lobby.sessions) == 2)
    tournament = await server.tournament("ada", "bob")
    await server.until(lambda: server.running and len(server.running[0].committed_moves) == 8)
    (game,) = server.running
    await server.until(lambda: game.arbiter.asked_at_ns >= 0)
    return tournament


async def endings_of(server: ServerInTest) -> list[game_pb2.Ending.ValueType]:
    """How all games have ended."""
    found = await (await server.games()).ListGames(game_service_pb2.ListGamesRequest())
    return [game.outcome.ending for game in found.games]


@asynccontextmanager
async def connected(bots: Sequence[Bot], address: str) -> AsyncIterator[None]:
    """Bots that come back to an address as long as the block lasts."""
    backoff = [Backoff(Random(1), first=timedelta(milliseconds=10)) for _ in bots]
    clients = [
        Client(bot, server=address, backoff=each) for bot, each in zip(bots, backoff, strict=True)
    ]
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(client.serve())
        try:
            yield
        finally:
            for client in clients:
                client.stop()


@pytest.mark.parametrize("left", [0, 3, 6])
async def test_bots_notice_that_a_server_has_lost_moves(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    """Their game is void by the server, in the ledger with what each knows, and played again."""
    address = f"unix:{tmp_path}/arena.sock"
    bots = [PatientBot(name) for name in ("ada", "bob")]
    async with connected(bots, address):
        async with start_server(listen=address) as server:
            tournament = await begin(server)
            (game,) = server.running
        lose_moves(monkeypatch, left)
        with capture_logs() as logs:
            async with start_server(listen=address) as server:
                await server.until(lambda: game.id not in server.parts.games.running)
                let_go_on(bots)
                await server.until_finished(tournament)
                (fault,) = await faults(server, game.id)
                endings = await endings_of(server)
                count = server.app.registry().get_sample_value(
                    "meijin_games_disputed_total", {"verdict": "lost"}
                )
    assert count == 1
    assert (fault.party, fault.detail) == (fault_service_pb2.FAULT_PARTY_SERVER, LOST)
    knows = {name: str(value).split(",")[0] for name, value in fault.evidence.items()}
    assert knows["server_knows"] == f"{left} stones"
    assert knows["black_knows"] == "8 stones"
    assert knows["white_knows"] == "7 stones"
    assert [entry["game"] for entry in logs if entry["event"] == LOST] == [game.id]
    assert sorted(endings) == [game_pb2.ENDING_FIVE, game_pb2.ENDING_VOID]


async def test_a_restart_that_loses_nothing_voids_nothing(
    start_server: StartServer, tmp_path: Path
) -> None:
    """The game goes on, though the bots tell of it."""
    address = f"unix:{tmp_path}/arena.sock"
    bots = [PatientBot(name) for name in ("ada", "bob")]
    async with connected(bots, address):
        async with start_server(listen=address) as server:
            tournament = await begin(server)
        async with start_server(listen=address) as server:
            let_go_on(bots)
            await server.until_finished(tournament)
            assert await endings_of(server) == [game_pb2.ENDING_FIVE]


# -- bots that tell what they like --------------------------------------------------


@pytest.mark.parametrize("liar_first", [True, False])
@pytest.mark.parametrize("plies", [5, 6])
async def test_a_lie_voids_no_game(
    start_server: StartServer, plies: int, *, liar_first: bool
) -> None:
    """White claims more moves than there were; black, which must know of them, does not."""
    async with start_server() as server:
        game_id, *names = await leave_game(server, plies)
    told = {"black": known(plies - plies % 2), "white": known(plies + 2, moves=(*MOVES, 9, 10))}
    if plies % 2:
        told["black"] = known(plies - 1, MOVES[plies - 1])
    async with start_server() as server:
        sides = ["white", "black"] if liar_first else ["black", "white"]
        peers = {}
        for side in sides:
            name = names[side == "white"]
            peers[side] = await server.bot(name, known_games={game_id: told[side]})
            if liar_first and len(peers) == 1:
                assert not await is_asked(peers[side])
        await play_moves((peers["black"], peers["white"]), (*MOVES[plies:], 4), first=plies)
        assert (await peers["black"].ended()).outcome.ending == game_pb2.ENDING_FIVE
        assert await faults(server, int(game_id)) == []
        labels = {"verdict": "denied"}
        count = server.app.registry().get_sample_value("meijin_games_disputed_total", labels)
        assert count == 1


async def test_a_dispute_waits_for_the_other_player(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked meanwhile; an opponent that tells nothing contradicts nobody."""
    async with start_server() as server:
        game_id, black, white = await leave_game(server, 6)
    lose_moves(monkeypatch, 4)
    async with start_server() as server:
        first = await server.bot(black, known_games={game_id: known(6)})
        assert len((await first.started()).moves) == 8
        assert not await is_asked(first)
        second = await server.bot(white)
        for peer in (first, second):
            ended = await peer.ended()
            assert ended.outcome.ending == game_pb2.ENDING_VOID
            assert ended.outcome.detail == LOST


async def test_a_dispute_outlives_the_absence_of_who_told(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that left again, and comes back with nothing to tell, has told all the same."""
    async with start_server() as server:
        game_id, black, white = await leave_game(server, 6)
    lose_moves(monkeypatch, 4)
    async with start_server() as server:
        first = await server.bot(black, known_games={game_id: known(6)})
        first.call.cancel()
        await server.away(black)
        again = await server.bot(black)
        assert not await is_asked(again)
        second = await server.bot(white, known_games={game_id: known(5, MOVES[5])})
        assert (await second.ended()).outcome.ending == game_pb2.ENDING_VOID


async def test_a_lost_answer_that_was_given_again_otherwise_is_noticed(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes back first is asked for a move that the other was told of: it plays another one."""
    async with start_server() as server:
        game_id, black, white = await leave_game(server, 5)
    lose_moves(monkeypatch, 4)
    async with start_server() as server:
        first = await server.bot(black, known_games={game_id: known(4, MOVES[4])})
        await first.play(await first.turn(), 13)
        (game,) = server.running
        await server.until(lambda: len(game.committed_moves) == 5)
        second = await server.bot(white, known_games={game_id: known(5)})
        assert (await second.ended()).outcome.ending == game_pb2.ENDING_VOID


async def test_a_server_that_never_stopped_believes_no_claim(server: ServerInTest) -> None:
    """It can't have forgotten anything."""
    black, white = await server.pair()
    await play_moves((black, white), MOVES[:6])
    black.call.cancel()
    await server.away(black.name)
    told = {black.start.game_id: known(8)}
    black = await server.bot(black.name, known_games=told)
    assert (await black.turn()).ply == 6


async def test_the_stones_of_an_opening_are_told(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stones that were placed instead of a choice are lost: both players know of them."""
    names = ("ada", "bob")
    async with start_server() as server:
        peers = [await server.bot(name, opening_rules=(SWAP2,)) for name in names]
        await server.tournament(*names, variant=SWAP)
        first, second = peers
        if (await first.started()).color == game_pb2.COLOR_WHITE:
            first, second = second, first
        await first.place(await first.turn(), *MOVES[:3])
        await second.place(await second.turn(), *MOVES[3:5])
        assert (await first.turn()).ply == 5
        game_id = first.start.game_id or second.start.game_id
        first_name, second_name = first.name, second.name
    lose_moves(monkeypatch, 3)
    async with start_server() as server:
        back = await server.bot(
            second_name, opening_rules=(SWAP2,), known_games={game_id: known(3, *MOVES[3:5])}
        )
        assert (await back.turn()).ply == 3
        await server.bot(first_name, opening_rules=(SWAP2,), known_games={game_id: known(5)})
        assert (await back.ended()).outcome.ending == game_pb2.ENDING_VOID


async def test_a_game_that_was_never_begun_here_is_told_of(server: ServerInTest) -> None:
    """The database is older than the bot's game: the owner and the operator hear of it."""
    peer = await server.peer()
    hello = pb.Hello(protocol_version=1, bot_name="ada", known_games={"812": known(3)})
    with capture_logs() as logs:
        await peer.write(hello=hello)
        notice = (await peer.welcome()).notice
    assert notice.startswith("this server knows nothing of your game 812:")
    assert [entry["game"] for entry in logs if entry["log_level"] == "error"] == [812]
