"""A server that knows less of its games than their bots, after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from structlog.testing import capture_logs
from tests.peer import Peer, play_moves
from tests.server_in_test import ServerInTest

from meijin.game import encode_moves
from meijin.server.match.games import Games
from meijin.server.match.presence.lost_moves import LOST
from meijin.v1 import fault_service_pb2, game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

MOVES = (0, 5, 1, 6, 2, 7, 3, 8)
"""On the small board; 4 wins."""
FIVE, VOID = game_pb2.ENDING_FIVE, game_pb2.ENDING_VOID


def lose_moves(monkeypatch: pytest.MonkeyPatch, left: int | None) -> None:
    """Have the next server find this many moves of each game, whatever is stored."""
    restore = Games.restore

    def restore_some(self: Games, game: Any, moves: Sequence[Any]) -> None:
        restore(self, game, moves[:left])

    monkeypatch.setattr(Games, "restore", restore_some)


def known(ply: int, *answer: int, moves: Sequence[int] = MOVES) -> pb.KnownGame:
    """What a bot knows that was told of this many moves, and has answered with these stones."""
    told = encode_moves(moves[:ply])
    message = pb.KnownGame(ply=ply, moves_crc=crc32(told))
    if answer:
        message.answered_crc = crc32(told + encode_moves(answer))
    return message


async def leave_game(start_server: StartServer, plies: int) -> tuple[str, str, str]:
    """Play this many moves of a game; its id and the names of black and white."""
    async with start_server() as server:
        peers = await server.pair()
        await play_moves(peers, MOVES[:plies])
        await peers[plies % 2].turn()
        return peers[0].start.game_id, peers[0].name, peers[1].name


async def faults(server: ServerInTest, game_id: str) -> Sequence[fault_service_pb2.Fault]:
    found = await server.ask("FaultService/ListFaults", game_id=game_id)
    return list(found.faults)


def disputed(server: ServerInTest, verdict: str) -> float | None:
    """How many disputes are counted that came to this."""
    name = "meijin_games_disputed_total"
    return server.app.registry().get_sample_value(name, {"verdict": verdict})


async def is_asked(peer: Peer) -> bool:
    await peer.catch_up()
    return peer.unread("turns") > 0


@pytest.mark.parametrize("left", [0, 3, 6, None])
async def test_a_game_whose_moves_are_lost_is_void(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, left: int | None
) -> None:
    """By the server, in the ledger with what each knows, and it is played again.

    Where nothing is lost nothing is void.
    """
    game_id, black, white = await leave_game(start_server, 8)
    lose_moves(monkeypatch, left)
    with capture_logs() as logs:
        async with start_server() as server:
            first = await server.bot(black, known_games={game_id: known(8)})
            await server.bot(white, known_games={game_id: known(7, MOVES[7])})
            if left is None:
                assert (await first.turn()).ply == 8
                assert (disputed(server, "lost"), await faults(server, game_id)) == (0, [])
                return
            assert (await first.ended()).outcome.ending == VOID
            await server.until(lambda: [str(game.id) for game in server.running] > [game_id])
            (fault,) = await faults(server, game_id)
            assert disputed(server, "lost") == 1
    assert [entry["game"] for entry in logs if entry["event"] == LOST] == [int(game_id)]
    assert (fault.party, fault.detail) == (fault_service_pb2.FAULT_PARTY_SERVER, LOST)
    knows = {name: str(value).split(",")[0] for name, value in fault.evidence.items()}
    assert [knows[f"{who}_knows"] for who in ("server", "black", "white")] == [
        f"{left} stones",
        "8 stones",
        "7 stones",
    ]


async def test_a_lie_voids_no_game(start_server: StartServer) -> None:
    """White claims more moves than there were; black, which must know of them, does not."""
    game_id, *names = await leave_game(start_server, 5)
    async with start_server() as server:
        white = await server.bot(names[1], known_games={game_id: known(7)})
        assert not await is_asked(white)
        black = await server.bot(names[0], known_games={game_id: known(4, MOVES[4])})
        await play_moves((black, white), (*MOVES[5:], 4), first=5)
        assert (await black.ended()).outcome.ending == FIVE
        assert await faults(server, game_id) == []
        assert disputed(server, "denied") == 1


async def test_a_dispute_outlives_the_absence_of_who_told(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that left again, and comes back with nothing to tell, has told all the same."""
    game_id, black, white = await leave_game(start_server, 6)
    lose_moves(monkeypatch, 4)
    async with start_server() as server:
        first = await server.bot(black, known_games={game_id: known(6)})
        first.call.cancel()
        await server.away(black)
        again = await server.bot(black)
        assert not await is_asked(again)
        second = await server.bot(white, known_games={game_id: known(5, MOVES[5])})
        assert (await second.ended()).outcome.ending == VOID


async def test_a_lost_answer_that_was_given_again_otherwise_is_noticed(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes back first is asked for a move that the other was told of: it plays another one."""
    game_id, black, white = await leave_game(start_server, 5)
    lose_moves(monkeypatch, 4)
    async with start_server() as server:
        first = await server.bot(black, known_games={game_id: known(4, MOVES[4])})
        await first.play(await first.turn(), 13)
        (game,) = server.running
        await server.until(lambda: len(game.committed_moves) == 5)
        second = await server.bot(white, known_games={game_id: known(5)})
        assert (await second.ended()).outcome.ending == VOID


async def test_a_server_that_never_stopped_believes_no_claim(server: ServerInTest) -> None:
    black, white = await server.pair()
    await play_moves((black, white), MOVES[:6])
    black.call.cancel()
    await server.away(black.name)
    again = await server.bot(black.name, known_games={black.start.game_id: known(8)})
    assert (await again.turn()).ply == 6


async def test_a_game_that_was_never_begun_here_is_told_of(server: ServerInTest) -> None:
    """The database is older than the bot's game: the owner and the operator hear of it."""
    peer = await server.peer()
    hello = pb.Hello(protocol_version=1, bot_name="ada", known_games={"812": known(3)})
    with capture_logs() as logs:
        await peer.write(hello=hello)
        notice = (await peer.welcome()).notice
    assert notice.startswith("this server knows nothing of your game 812:")
    assert [entry["game"] for entry in logs if entry["log_level"] == "error"] == [812]
