"""Openings on a server: what the players are asked for and told, and what is stored of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.peer import WAIT_TIMEOUT, Peer
from tests.server_in_test import ServerInTest

from meijin.game import OPENING_RULES, RENJU, SOOSYRV8, SWAP2, Color, Seat, Variant
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

BLACK, WHITE = game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE
ALL = tuple(OPENING_RULES.values())
SWAPPED = Variant(width=7, height=7, opening_rule=SWAP2)
STONES = (0, 13, 20)
FIVE = (30, 35, 31, 36, 32, 37, 33, 38, 34)
"""White, who is to move after three stones, makes a line."""
TASKS = (
    pb.OpeningTask(stones=3),
    pb.OpeningTask(stones=2, may_choose=True),
    pb.OpeningTask(may_choose=True),
)


async def seated(server: ServerInTest, *, rounds: int = 1) -> tuple[Peer, Peer]:
    """The first and the second player of a game with swap2 that has just started."""
    peers = await server.pair(bots={"opening_rules": ALL}, variant=SWAPPED, rounds=rounds)
    rules = {peer.start.variant.opening_rule for peer in peers}
    assert rules == {game_pb2.OPENING_RULE_SWAP2}
    return peers


async def placed(server: ServerInTest, *, rounds: int = 1) -> tuple[Peer, Peer, pb.TurnRequested]:
    """The same, and the turn of the second player once three stones lie."""
    first, second = await seated(server, rounds=rounds)
    await first.place(await first.turn(), *STONES)
    return first, second, await second.turn()


async def play_out(white: Peer, black: Peer) -> None:
    for ply, cell in enumerate(FIVE, start=len(STONES)):
        mover = (white, black)[(ply + 1) % 2]
        turn = await mover.turn()
        assert (turn.ply, turn.HasField("task")) == (ply, False)
        await mover.play(turn, cell)


@pytest.mark.parametrize("color", [BLACK, WHITE])
async def test_the_second_player_chooses(
    server: ServerInTest, color: game_pb2.Color.ValueType
) -> None:
    """Both are told, white is to move, and the winner has the point, whatever colour it has."""
    first, second, turn = await placed(server, rounds=2)
    assert turn.task == TASKS[1]
    assert list(memoryview(turn.moves).cast("H")) == list(STONES)
    await second.choose(turn, color)
    other = WHITE if color == BLACK else BLACK
    assert [(await peer.chosen()).color for peer in (first, second)] == [other, color]
    white, black = (second, first) if color == WHITE else (first, second)
    await play_out(white, black)
    for peer in (first, second):
        assert (await peer.ended()).outcome.winner == WHITE
    game = await server.game()
    assert (game.black, game.white) == (black.name, white.name)
    assert game.swapped == (color == BLACK)
    (decision,) = game.decisions
    assert (decision.ply, decision.color) == (3, color)
    assert decision.HasField("raw_time")
    assert game.opening_plies == 0
    starts = [await peer.started() for peer in (first, second)]
    assert [start.color for start in starts] == [WHITE, BLACK]  # the seats are exchanged
    report = await server.report()
    counted = {white.name: 1, black.name: 0}
    assert {row.bot: row.points for row in report.standings} == counted
    assert {cell.bot: cell.wins for cell in report.crosstable} == counted


async def test_nobody_hears_of_an_opening_that_is_not_committed(server: ServerInTest) -> None:
    """Of its stones, or of a choice: neither a player nor whoever looks at the game."""
    first, second = await seated(server)
    turn = await first.turn()
    (game,) = server.running
    with server.held():
        await first.place(turn, *STONES)
        await server.until(lambda: game.arbiter.board.ply == len(STONES))
        assert not game.committed_moves
    turn = await second.turn()
    assert list(game.committed_moves) == list(STONES)
    with server.held():
        await second.choose(turn, BLACK)
        await server.until(lambda: game.arbiter.task is None)
        assert not game.committed_decisions
        assert game.black.name == first.name
        assert game.color(Seat.FIRST) is Color.BLACK
        assert second.unread("choices") == 0
    assert (await second.chosen()).color == BLACK
    assert game.black.name == second.name
    assert (await server.game()).black == second.name


async def test_who_watches_a_game_is_told_of_the_choice(server: ServerInTest) -> None:
    first, second, turn = await placed(server)
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        facts = aiter(server.watch("GameService/WatchGame", game_id="1"))
        before = (await anext(facts)).game
        assert (before.black, len(before.decisions)) == (first.name, 0)
        await second.choose(turn, BLACK)
        after = (await anext(facts)).game
        assert (after.black, after.decisions[0].color, len(after.moves)) == (second.name, BLACK, 3)
        await play_out(white=first, black=second)
        async for fact in facts:
            assert fact.moves or fact.game.outcome.winner == WHITE


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


@pytest.mark.parametrize("phase", range(4))
async def test_a_restart_goes_on_in_the_same_phase(start_server: StartServer, phase: int) -> None:
    """The bots are asked for the same again, and have the sides that were chosen."""
    async with start_server() as server:
        first, second = await seated(server)
        names = first.name, second.name
        turn = await first.turn()
        if phase >= 1:
            await first.place(turn, *STONES)
            turn = await second.turn()
        if phase >= 2:
            await second.place(turn, 21, 28)
            turn = await first.turn()
        if phase == 3:
            await first.choose(turn, WHITE)
            await second.chosen()
    async with start_server() as server:
        first, second = [await server.bot(name, opening_rules=ALL) for name in names]
        starts = [(await peer.started()).color for peer in (first, second)]
        assert starts == ([WHITE, BLACK] if phase == 3 else [BLACK, WHITE])
        turn = await (first, second, first, first)[phase].turn()
        assert turn.ply == (0, 3, 5, 5)[phase]
        assert turn.HasField("task") == (phase < 3)
        assert turn.task == (*TASKS, pb.OpeningTask())[phase]
        game = await server.game()
        assert (game.black, game.swapped) == (names[phase == 3], phase == 3)


SOOSYRV = Variant(RENJU, opening_rule=SOOSYRV8)
SQUARES = pb.OpeningTask(stones=3, squares=[1, 3, 5])
COURSE: list[tuple[int, pb.OpeningTask, str, pb.Actions]] = [
    (0, SQUARES, "placements", pb.Actions(placements=[pb.Placement(cells=[112, 98, 99])])),
    (1, pb.OpeningTask(may_choose=True), "choices", pb.Actions(choices=[pb.Choose(color=BLACK)])),
    (0, pb.OpeningTask(stones=1), "placements", pb.Actions(placements=[pb.Placement(cells=[0])])),
    (0, pb.OpeningTask(most_offers=8), "", pb.Actions(declarations=[pb.Declare(offers=2)])),
    (
        1,
        pb.OpeningTask(may_choose=True, declared=2),
        "choices",
        pb.Actions(choices=[pb.Choose(color=WHITE)]),
    ),
    (
        0,
        pb.OpeningTask(offers=2, declared=2),
        "",
        pb.Actions(offers=[pb.Offer(cells=[15, 16])]),
    ),
    (
        1,
        pb.OpeningTask(stones=1, among=[15, 16], declared=2),
        "",
        pb.Actions(placements=[pb.Placement(cells=[16])]),
    ),
]
"""Of Soosyrv-8: whose turn it is, what is asked for, and what is answered."""


async def act(peer: Peer, turn: pb.TurnRequested, actions: pb.Actions) -> None:
    """Answer a turn."""
    sent = pb.Actions()
    sent.CopyFrom(actions)
    for kind in (sent.placements, sent.choices, sent.declarations, sent.offers):
        for each in kind:
            each.game, each.ply = turn.game, turn.ply
    await peer.write(actions=sent)


@pytest.mark.parametrize("phase", [3, 4, 5, 6, 7])
async def test_offers_are_made_and_taken(start_server: StartServer, phase: int) -> None:
    """Whoever is asked for what; a restart in between changes nothing, and the record has it."""
    names: tuple[str, ...] = ()
    for steps, later in ((COURSE[:phase], COURSE[phase:]), (COURSE[phase:], [])):
        async with start_server() as server:
            if names:
                peers = [await server.bot(name, opening_rules=ALL) for name in names]
                for peer in peers:
                    await peer.started()
            else:
                bots = {"opening_rules": ALL}
                peers = [*await server.pair(bots=bots, variant=SOOSYRV)]
                names = (peers[0].name, peers[1].name)
            for seat, task, kind, actions in steps:
                turn = await peers[seat].turn()
                assert turn.task == task
                await act(peers[seat], turn, actions)
                if kind == "choices":
                    for peer in peers:
                        await peer.chosen()
            last = await peers[later[0][0] if later else 1].turn()
            await server.until(lambda: not server.running[0].is_uncommitted)
            game = await server.game()
    assert (last.ply, last.HasField("task")) == (5, False)
    assert [move.cell for move in game.moves] == [112, 98, 99, 0, 16]
    told = [(each.ply, each.color, each.declared, [*each.offered]) for each in game.decisions]
    assert told == [(3, BLACK, 0, []), (4, 0, 2, []), (4, WHITE, 0, []), (4, 0, 0, [15, 16])]
    assert (game.black, game.white) == names


@pytest.mark.parametrize(
    ("offer", "detail"),
    [
        ([15, 15], "an offer of cells that are the same up to symmetry"),
        ([15, 112], "an offer of cell 112, where no stone can be placed"),
        ([15], "an offer of 1 cells where the task is to offer 2 cells"),
    ],
)
async def test_an_offer_that_is_none_loses(
    server: ServerInTest, offer: list[int], detail: str
) -> None:
    peers = await server.pair(bots={"opening_rules": ALL}, variant=SOOSYRV)
    for seat, _, kind, actions in COURSE[:5]:
        await act(peers[seat], await peers[seat].turn(), actions)
        if kind == "choices":
            for peer in peers:
                await peer.chosen()
    await act(peers[0], await peers[0].turn(), pb.Actions(offers=[pb.Offer(cells=offer)]))
    outcome = (await peers[1].ended()).outcome
    assert outcome.ending == game_pb2.ENDING_ILLEGAL
    assert outcome.detail == detail
