"""Bots that have a clock of their own, over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest

from meijin.game import TimeControl
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import record_from_proto, time_control_from_proto, time_control_to_proto

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

SLOW, FAST = TimeControl.parse("600+1"), TimeControl.parse("60")
CLOCKS = {"ada": SLOW, "bob": FAST}
SIDES: dict[str, Any] = {
    "unrated": True,
    "time_controls": [time_control_to_proto(SLOW), time_control_to_proto(FAST)],
}
LEFT_MS = {"ada": 600_000, "bob": 60_000}


def check_start(peer: Peer, start: play_pb.GameStarted) -> None:
    """A bot is told its own clock, and that of the other."""
    own, other = time_control_from_proto(start.time_control), CLOCKS[start.opponent]
    assert own == CLOCKS[peer.name]
    assert time_control_from_proto(start.opponent_time_control) == other


async def game_of(server: ServerInTest, game_id: str) -> game_pb2.Game:
    """One game."""
    request = game_service_pb2.GetGameRequest(game_id=game_id)
    return (await (await server.games()).GetGame(request)).game


def check_game(game: game_pb2.Game) -> None:
    """Its record says who had which clock."""
    record = record_from_proto(game)
    assert record.time_control == CLOCKS[game.black]
    assert record.white_time_control == CLOCKS[game.white]


async def test_a_clock_is_its_bots_whatever_its_colour(start_server: StartServer) -> None:
    """In both games of a pair, after a restart, and in the replay of a void game."""
    async with start_server() as server:
        black, white = await server.pair(rounds=2, **SIDES)
        for peer in (black, white):
            check_start(peer, peer.start)
        turn = await black.turn()
        assert turn.own_clock_ms == LEFT_MS[black.name]
        assert turn.opponent_clock_ms == LEFT_MS[white.name]
        await black.play(turn, 0)
        await white.turn()
        game_id = black.start.game_id
        check_game(await game_of(server, game_id))
    async with start_server() as server:
        black, white = [await server.bot(peer.name) for peer in (black, white)]
        for peer in (black, white):
            check_start(peer, await peer.started())
        turn = await white.turn()
        assert turn.own_clock_ms <= LEFT_MS[white.name]
        assert turn.own_clock_ms > LEFT_MS[white.name] - 20_000
        void = game_service_pb2.VoidGameRequest(game_id=game_id, reason="a test")
        await (await server.games()).VoidGame(void)
        for _ in range(2):
            for peer in (black, white):
                await peer.ended()
                check_start(peer, await peer.started())
            check_game(await game_of(server, black.start.game_id))
            await black.resign(black.start.game)


async def test_settings_come_back(server: ServerInTest) -> None:
    """In the order of the bots; the same for both is one clock, and may be rated."""
    for name in ("ada", "bob"):
        await server.bot(name)
    service = await server.tournaments()
    tournament = await server.tournament("bob", "ada", **SIDES)
    found = await service.GetTournament(pb.GetTournamentRequest(tournament_id=tournament))
    assert list(found.tournament.settings.time_controls) == SIDES["time_controls"]
    assert time_control_from_proto(found.tournament.settings.time_control) == SLOW
    same = [time_control_to_proto(FAST)] * 2
    tournament = await server.tournament("bob", "ada", time_controls=same)
    found = await service.GetTournament(pb.GetTournamentRequest(tournament_id=tournament))
    assert list(found.tournament.settings.time_controls) == []
    assert time_control_from_proto(found.tournament.settings.time_control) == FAST


async def test_a_bot_is_held_to_its_own_clock(server: ServerInTest) -> None:
    """Who needs longer for a move than its own clock gives does not play."""
    await server.bot("ada")
    peer = await server.peer()
    needs = play_pb.Capabilities(
        min_board_size=3, max_board_size=22, any_line=True, min_move_time_ms=5_000
    )
    hello = play_pb.Hello(protocol_version=1, bot_name="bob", capabilities=needs)
    await peer.write(hello=hello)
    await peer.welcome()
    tournament = await server.tournament("ada", "bob", **SIDES)
    request = pb.GetTournamentRequest(tournament_id=tournament)
    found = await (await server.tournaments()).GetTournament(request)
    assert found.tournament.waiting_for.startswith("bob ")
    assert "ada" not in found.tournament.waiting_for


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (SIDES | {"unrated": False}, "games with different clocks are of no ladder's class"),
        (
            SIDES | {"format": pb.TOURNAMENT_FORMAT_KNOCKOUT, "rounds": 0},
            "ties of a knockout go on with a faster clock of both; set its fast_pairs to 0",
        ),
        (
            SIDES | {"time_controls": [*SIDES["time_controls"], time_control_to_proto(SLOW)]},
            "3 for 2 bots; give one for each, in their order",
        ),
        (
            SIDES | {"time_controls": [game_pb2.TimeControl(), time_control_to_proto(SLOW)]},
            "a time control needs an initial time",
        ),
    ],
)
async def test_what_can_not_be_is_refused(
    server: ServerInTest, settings: dict[str, Any], problem: str
) -> None:
    """In a sentence that says what to do."""
    for name in ("ada", "bob"):
        await server.bot(name)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await server.tournament("ada", "bob", **settings)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert str(caught.value.details()).startswith(f"time_controls: {problem}")
