"""Openings on a server: what the players are asked for and told, and what is stored of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from meijin.game import FREE, OPENING_RULES, SWAP2, Color, Seat, Variant
from meijin.testing.peer import WAIT_TIMEOUT, Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2, game_service_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

BLACK, WHITE = game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE
ALL = tuple(OPENING_RULES.values())
SWAPPED = Variant(width=7, height=7, opening_rule=SWAP2)
STONES = (0, 13, 20)
FIVE = (30, 35, 31, 36, 32, 37, 33, 38, 34)
"""White, who is to move after three stones, makes a line."""


async def seated(server: ServerInTest, *, rounds: int = 1) -> tuple[Peer, Peer]:
    """The first and the second player of a game with swap2 that has just started."""
    peers = [await server.bot(name, opening_rules=ALL) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", variant=SWAPPED, rounds=rounds)
    starts = [await peer.started() for peer in peers]
    assert {start.variant.opening_rule for start in starts} == {game_pb2.OPENING_RULE_SWAP2}
    if starts[0].color == WHITE:
        peers.reverse()
    return peers[0], peers[1]


async def play_out(white: Peer, black: Peer) -> None:
    """Have white make its line."""
    for ply, cell in enumerate(FIVE, start=len(STONES)):
        mover = (white, black)[(ply + 1) % 2]
        turn = await mover.turn()
        assert turn.ply == ply
        assert not turn.HasField("task")
        await mover.play(turn, cell)


async def stored_game(server: ServerInTest, game_id: str = "1") -> game_pb2.Game:
    """A game as the server shows it."""
    request = game_service_pb2.GetGameRequest(game_id=game_id)
    return (await (await server.games()).GetGame(request)).game


@pytest.mark.parametrize("color", [BLACK, WHITE])
async def test_the_second_player_chooses(
    server: ServerInTest, color: game_pb2.Color.ValueType
) -> None:
    """Both are told, white is to move, and the game is won by the colours that were chosen."""
    first, second = await seated(server)
    turn = await first.turn()
    assert turn.task == pb.OpeningTask(stones=3)
    await first.place(turn, *STONES)
    turn = await second.turn()
    assert turn.task == pb.OpeningTask(stones=2, may_choose=True)
    assert list(memoryview(turn.moves).cast("H")) == list(STONES)
    await second.choose(turn, color)
    other = WHITE if color == BLACK else BLACK
    assert [(await peer.chosen()).color for peer in (first, second)] == [other, color]
    white, black = (second, first) if color == WHITE else (first, second)
    await play_out(white, black)
    for peer in (first, second):
        assert (await peer.ended()).outcome.winner == WHITE
    game = await stored_game(server)
    assert (game.black, game.white) == (black.name, white.name)
    assert game.swapped == (color == BLACK)
    assert (game.choice.ply, game.choice.color) == (3, color)
    assert game.choice.HasField("raw_time")
    assert game.opening_plies == 0


async def test_the_points_are_the_winners(server: ServerInTest) -> None:
    """A tournament counts by players, whatever colours they have in the end."""
    first, second = await seated(server, rounds=2)
    await first.place(await first.turn(), *STONES)
    await second.choose(await second.turn(), BLACK)
    await play_out(white=first, black=second)
    await first.ended()
    starts = [await peer.started() for peer in (first, second)]
    assert [start.color for start in starts] == [WHITE, BLACK]  # the seats are exchanged
    request = tournament_service_pb2.GetTournamentRequest(tournament_id="1")
    report = await (await server.tournaments()).GetTournament(request)
    points = {row.bot: row.points for row in report.standings}
    assert points == {first.name: 1, second.name: 0}
    wins = {cell.bot: cell.wins for cell in report.crosstable}
    assert wins == {first.name: 1, second.name: 0}


async def test_nobody_hears_of_a_choice_that_is_not_committed(server: ServerInTest) -> None:
    """Neither a player nor whoever looks at the game."""
    first, second = await seated(server)
    await first.place(await first.turn(), *STONES)
    turn = await second.turn()
    (game,) = server.running
    with server.held():
        await second.choose(turn, BLACK)
        await server.until(lambda: game.arbiter.task is None)
        assert game.committed_choice is None
        assert game.black.name == first.name
        assert game.color(Seat.FIRST) is Color.BLACK
        assert second.unread("choices") == 0
    assert (await second.chosen()).color == BLACK
    assert game.black.name == second.name
    assert (await stored_game(server)).black == second.name


async def test_who_watches_a_game_is_told_of_the_choice(server: ServerInTest) -> None:
    """By the game as it is then, with the colours of its players."""
    first, second = await seated(server)
    await first.place(await first.turn(), *STONES)
    turn = await second.turn()
    request = game_service_pb2.WatchGameRequest(game_id="1")
    watched = (await server.games()).WatchGame(request)
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        facts = aiter(watched)
        before = (await anext(facts)).game
        assert (before.black, before.HasField("choice")) == (first.name, False)
        await second.choose(turn, BLACK)
        after = (await anext(facts)).game
        assert (after.black, after.choice.color, len(after.moves)) == (second.name, BLACK, 3)
        await play_out(white=first, black=second)
        async for fact in facts:
            assert fact.moves or fact.game.outcome.winner == WHITE


async def test_nobody_hears_of_stones_that_are_not_committed(server: ServerInTest) -> None:
    """All of a placement, or none of it."""
    first, second = await seated(server)
    turn = await first.turn()
    (game,) = server.running
    with server.held():
        await first.place(turn, *STONES)
        await server.until(lambda: game.arbiter.board.ply == len(STONES))
        assert not game.committed_moves
    assert (await second.turn()).ply == len(STONES)
    assert list(game.committed_moves) == list(STONES)


async def test_what_is_not_asked_for_is_told_of(server: ServerInTest) -> None:
    """A choice before the stones, and stones after the choice; the game goes on."""
    first, second = await seated(server)
    turn = await first.turn()
    await first.choose(turn, WHITE)
    notice = await first.notice()
    assert notice.reason == pb.NOTICE_REASON_NOT_ASKED
    assert notice.detail == "that is not asked for at ply 0: the task is to place 3 stones"
    await first.place(turn, *STONES)
    turn = await second.turn()
    await second.choose(turn, WHITE)
    await second.place(turn, 40, 41)
    notice = await second.notice()
    assert notice.detail == "that is not asked for at ply 3: stones are placed one by one"
    assert (await second.turn()).ply == 3


async def test_a_wrong_number_of_stones_loses(server: ServerInTest) -> None:
    """However many are sent."""
    first, second = await seated(server)
    await first.place(await first.turn(), *range(40))
    for peer in (first, second):
        outcome = (await peer.ended()).outcome
        assert (outcome.ending, outcome.winner) == (game_pb2.ENDING_ILLEGAL, WHITE)


async def test_a_single_stone_where_three_are_asked_for_loses(server: ServerInTest) -> None:
    """Also as a usual move."""
    first, _ = await seated(server)
    await first.play(await first.turn(), 24)
    assert (await first.ended()).outcome.ending == game_pb2.ENDING_ILLEGAL


async def test_a_bot_that_lacks_the_rule_is_not_paired(server: ServerInTest) -> None:
    """The tournament says in a line who lacks what."""
    able = await server.bot("ada", opening_rules=ALL)
    await server.bot("bob")
    await server.bot("cyd", opening_rules=(FREE,))
    key = await server.tournament("ada", "bob", "cyd", variant=SWAPPED, unrated=True)
    request = tournament_service_pb2.GetTournamentRequest(tournament_id=key)
    service = await server.tournaments()
    found = (await service.GetTournament(request)).tournament
    assert not server.running
    assert "does not play swap2 openings" in found.waiting_for
    assert "bob" in found.waiting_for
    assert "ada" not in found.waiting_for
    assert able.unread("started") == 0


async def test_dealt_openings_and_an_opening_rule_exclude_each_other(server: ServerInTest) -> None:
    """The players place the first stones."""
    for name in ("ada", "bob"):
        await server.bot(name, opening_rules=ALL)
    with pytest.raises(Exception, match="the players place the first stones"):
        await server.tournament("ada", "bob", variant=SWAPPED, openings=[b"\x00\x00"])


@pytest.mark.parametrize("phase", range(4))
async def test_a_restart_goes_on_in_the_same_phase(start_server: StartServer, phase: int) -> None:
    """The bots are asked for the same again, and have the sides that were chosen."""
    async with start_server() as server:
        first, second = await seated(server)
        names = first.name, second.name
        await first.turn() if phase == 0 else await first.place(await first.turn(), *STONES)
        if phase == 1:
            await second.turn()
        if phase >= 2:
            await second.place(await second.turn(), 21, 28)
            turn = await first.turn()
            if phase == 3:
                await first.choose(turn, WHITE)
                await second.chosen()
    async with start_server() as server:
        peers = {name: await server.bot(name, opening_rules=ALL) for name in names}
        first, second = (peers[name] for name in names)
        starts = [await peer.started() for peer in (first, second)]
        sides = [WHITE, BLACK] if phase == 3 else [BLACK, WHITE]
        assert [start.color for start in starts] == sides
        asked = (first, second, first, first)[phase]
        turn = await asked.turn()
        assert turn.ply == (0, 3, 5, 5)[phase]
        tasks = (
            pb.OpeningTask(stones=3),
            pb.OpeningTask(stones=2, may_choose=True),
            pb.OpeningTask(may_choose=True),
        )
        assert turn.HasField("task") == (phase < 3)
        if phase < 3:
            assert turn.task == tasks[phase]
        game = await stored_game(server)
        assert (game.black, game.swapped) == (names[phase == 3], phase == 3)
