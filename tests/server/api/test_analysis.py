"""Positions outside of games, evaluated over the stream of a bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest

from meijin.game import Variant, encode_moves
from meijin.server.api.analysis import MAX_POSITIONS
from meijin.server.api.limits import EVALUATIONS_OF_AN_ADDRESS
from meijin.server.match.live import evaluations as module
from meijin.server.settings import Registration
from meijin.testing.peer import CallEnding, Peer, bearer, ending_of_call
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1 import bot_service_pb2, game_pb2, owner_service_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.v1.owner_service_pb2_grpc import OwnerServiceStub
from meijin.wire import variant_to_proto

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.testing.server import ServerInTest

SMALL = Variant(width=5, height=5)
WON = (0, 5, 1, 6, 2, 7, 3, 8, 4)


def asking(
    *positions: Sequence[int], bot: str = "ada", time_ms: int = 0, nodes: int = 0
) -> pb.EvaluateRequest:
    """A request about positions of the small board."""
    return pb.EvaluateRequest(
        bot=bot,
        positions=[
            pb.EvaluatedPosition(variant=variant_to_proto(SMALL), moves=encode_moves(moves))
            for moves in positions
        ],
        time_ms=time_ms,
        nodes=nodes,
    )


async def evaluate(
    server: ServerInTest, request: pb.EvaluateRequest, token: str | None = None
) -> grpc.aio.UnaryStreamCall[pb.EvaluateRequest, pb.EvaluateResponse]:
    """Ask."""
    return (await server.analysis()).Evaluate(request, metadata=bearer(token))


async def ending(
    server: ServerInTest, request: pb.EvaluateRequest, token: str | None = None
) -> CallEnding:
    """How a call ends that is refused."""
    return await ending_of_call(await evaluate(server, request, token))


async def next_of(call: object) -> pb.EvaluateResponse:
    """The next answer."""
    response = await call.read()  # type: ignore[attr-defined]
    assert isinstance(response, pb.EvaluateResponse)
    return response


@pytest.fixture
async def ada(server: ServerInTest) -> AsyncIterator[Peer]:
    """A bot that evaluates."""
    yield await server.bot("ada", evaluates=True)  # noqa: PT022 - what follows is the server's end


async def test_answers_come_as_they_are_given(server: ServerInTest, ada: Peer) -> None:
    """Each with its place in the request, and what the bot said of its search."""
    call = await evaluate(server, asking((), (12, 0), time_ms=250, nodes=700))
    first, second = await ada.asked(), await ada.asked()
    assert (first.moves, second.moves) == (b"", encode_moves((12, 0)))
    for each in (first, second):
        assert (each.time_ms, each.nodes, each.variant) == (250, 700, variant_to_proto(SMALL))
    said = play_pb.Analysis(score=-30, depth=4, nodes=650, pv=encode_moves((7, 8, 500, 9)))
    answer = play_pb.Evaluation(
        evaluation=second.evaluation, cell=7, analysis=said, thinking_us=2500
    )
    await ada.evaluate(answer)
    found = await next_of(call)
    assert (found.position, found.cell, found.failure) == (1, 7, "")
    kept = game_pb2.MoveAnalysis(score=-30, depth=4, nodes=650, pv=encode_moves((7, 8)))
    assert found.analysis == kept
    assert found.search_time.ToTimedelta() == timedelta(microseconds=2500)
    await ada.evaluate(play_pb.Evaluation(evaluation=first.evaluation))
    found = await next_of(call)
    assert (found.position, found.HasField("cell"), found.failure) == (0, False, "")
    assert not found.HasField("search_time")
    assert await call.read() is grpc.aio.EOF


async def test_a_bot_in_a_game_is_asked_too(server: ServerInTest) -> None:
    """And its game, its clock and its turn know nothing of it."""
    peers = [await server.bot(name, evaluates=True) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", unrated=True)
    first, _ = [await peer.started() for peer in peers]
    black, white = peers if first.color == game_pb2.COLOR_BLACK else reversed(peers)
    turn = await black.turn()
    call = await evaluate(server, asking((3,), bot=black.name))
    asked = await black.asked()
    await black.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=0))
    assert (await next_of(call)).cell == 0
    await black.play(turn, 0)
    assert (await white.turn()).moves == encode_moves((0,))


async def test_what_can_not_be_is_refused(server: ServerInTest, ada: Peer) -> None:
    """By the field that is wrong, before the bot is asked anything."""
    assert ada.name == "ada"
    await server.bot("eve")
    for request, code, words in (
        (asking((3, 3)), "INVALID_ARGUMENT", "positions[0]: "),
        (asking((), WON), "INVALID_ARGUMENT", "positions[1]: the game is over there"),
        (asking((25,)), "INVALID_ARGUMENT", "positions[0]: "),
        (asking((), time_ms=60_001), "INVALID_ARGUMENT", "time_ms 60001 is above 60000"),
        (asking(*[()] * (MAX_POSITIONS + 1)), "INVALID_ARGUMENT", "at most 256 a call"),
        (
            pb.EvaluateRequest(
                bot="ada",
                positions=[
                    pb.EvaluatedPosition(
                        variant=game_pb2.Variant(opening_rule=game_pb2.OPENING_RULE_SWAP2)
                    )
                ],
            ),
            "INVALID_ARGUMENT",
            "positions[0]: the bot does not play swap2 openings",
        ),
        (asking((), bot="eve"), "FAILED_PRECONDITION", "does not evaluate positions"),
        (asking((), bot="nobody"), "NOT_FOUND", 'no bot "nobody"'),
    ):
        ended = await ending(server, request)
        assert ended.code.name == code
        assert words in ended.details


async def test_a_bot_that_is_away_can_not_be_asked(server: ServerInTest) -> None:
    """It is registered, and not connected."""
    await server.register("ada")
    ended = await ending(server, asking(()))
    assert (ended.reason, ended.details) == ("WRONG_STATE", 'bot "ada" is not connected; start it')


async def test_operators_owners_and_the_bot_itself_may_ask(start_server: StartServer) -> None:
    """Others hear that there is no such bot of theirs, or that their token is no such one."""
    async with start_server(registration=Registration.INVITATION) as server:
        operator = server.operator_token
        owners = OwnerServiceStub(await server.channel())
        tokens = []
        for name in ("mia", "max"):
            invited = await owners.CreateInvitation(
                owner_service_pb2.CreateInvitationRequest(), metadata=bearer(operator)
            )
            joining = owner_service_pb2.JoinRequest(invitation=invited.secret, name=name)
            tokens.append((await owners.Join(joining)).token)
        registered = [await _register(server, name, tokens[0]) for name in ("ada", "bob")]
        ada = await server.bot("ada", token=registered[0], evaluates=True)
        for token in (operator, tokens[0], registered[0]):
            call = await evaluate(server, asking(()), token)
            asked = await ada.asked()
            await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=1))
            assert (await next_of(call)).cell == 1
        assert (await ending(server, asking(()), tokens[1])).reason == "NOT_FOUND"
        assert (await ending(server, asking(()), registered[1])).reason == "NOT_FOUND"
        assert (await ending(server, asking(()))).reason == "UNKNOWN_TOKEN"


async def _register(server: ServerInTest, name: str, token: str) -> str:
    request = bot_service_pb2.RegisterBotRequest(name=name)
    response = await (await server.bots()).RegisterBot(request, metadata=bearer(token))
    return response.token


async def test_a_bot_that_leaves_fails_what_it_was_asked(server: ServerInTest, ada: Peer) -> None:
    """All of it at once, what waits for its turn too."""
    count = module.MAX_OUTSTANDING + 2
    call = await evaluate(server, asking(*[()] * count))
    for _ in range(module.MAX_OUTSTANDING):
        await ada.asked()
    ada.call.cancel()
    found = [await next_of(call) for _ in range(count)]
    assert {each.failure for each in found} == {"the bot has left"}
    assert sorted(each.position for each in found) == list(range(count))
    assert await call.read() is grpc.aio.EOF


async def test_a_caller_that_leaves_takes_its_questions_back(
    server: ServerInTest, ada: Peer
) -> None:
    """What was not sent is not; an answer to what was sent is no mistake of the bot."""
    count = module.MAX_OUTSTANDING + 2
    call = await evaluate(server, asking(*[()] * count))
    asked = [await ada.asked() for _ in range(module.MAX_OUTSTANDING)]
    call.cancel()
    await server.until(lambda: not server.tasks("Evaluate"))
    other = await evaluate(server, asking((7,)))
    last = await ada.asked()
    assert last.moves == encode_moves((7,))
    await ada.evaluate(
        play_pb.Evaluation(evaluation=asked[0].evaluation, cell=0),
        play_pb.Evaluation(evaluation=last.evaluation, cell=0),
        play_pb.Evaluation(evaluation=last.evaluation, cell=0),
    )
    assert (await next_of(other)).cell == 0
    assert (await ada.notice()).evaluation == last.evaluation
    assert (ada.unread("evaluations"), ada.unread("notices")) == (0, 0)


async def test_answers_that_can_not_be_are_told_as_failures(
    server: ServerInTest, ada: Peer
) -> None:
    """Whatever a bot sends: cells off the board, occupied ones, and words without end."""
    call = await evaluate(server, asking((3,), (3,), (3,)))
    numbers = [(await ada.asked()).evaluation for _ in range(3)]
    endless = play_pb.Analysis(pv=b"\xff" * 20_001)
    await ada.evaluate(
        play_pb.Evaluation(evaluation=numbers[0], cell=2**32 - 1, analysis=endless),
        play_pb.Evaluation(evaluation=numbers[1], cell=3, thinking_us=2**64 - 1),
        play_pb.Evaluation(evaluation=numbers[2], failure="\x1b" + "a" * 5000),
    )
    found = [await next_of(call) for _ in range(3)]
    assert [each.failure[:45] for each in found] == [
        "the bot answered with cell 4294967295, which ",
        "the bot answered with cell 3, which can't be ",
        "the bot failed: " + "a" * 29,
    ]
    assert max(len(each.failure) for each in found) < 520
    assert not any(each.HasField("cell") for each in found)


@pytest.mark.settings(max_notices=3)
async def test_answers_that_nobody_asked_for_end_the_stream(
    server: ServerInTest, ada: Peer
) -> None:
    """Each is told; too many of them are too much, as elsewhere."""
    assert server.running == []
    first, *others = (play_pb.Evaluation(evaluation=number, cell=0) for number in range(5))
    await ada.evaluate(first)
    notice = await ada.notice()
    assert (notice.game, notice.reason) == (0, play_pb.NOTICE_REASON_UNKNOWN_EVALUATION)
    assert notice.detail == "no evaluation 0 waits for an answer"
    await ada.evaluate(*others)
    assert (await ada.closed()).reason == "TOO_MANY_NOTICES"


async def test_a_message_holds_no_more_answers_than_were_asked(
    server: ServerInTest, ada: Peer
) -> None:
    """With some to spare."""
    assert server.running == []
    await ada.evaluate(*[play_pb.Evaluation(evaluation=1)] * 200)
    ended = await ada.closed()
    assert (ended.reason, ended.details) == (
        "TOO_MANY_ACTIONS",
        "200 evaluations in a message; at most 128",
    )


async def test_a_bot_that_says_nothing_is_told_of(
    server: ServerInTest, ada: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit counts from its last answer, and what comes after it is no mistake."""
    monkeypatch.setattr(module, "PATIENCE", timedelta(milliseconds=20))
    call = await evaluate(server, asking((), time_ms=30))
    asked = await ada.asked()
    assert (await next_of(call)).failure == "the bot has not answered for 0.05 s"
    late = play_pb.Evaluation(evaluation=asked.evaluation, cell=0)
    await ada.evaluate(late)
    await ada.evaluate(late)
    assert (await ada.notice()).evaluation == asked.evaluation
    assert ada.unread("notices") == 0


async def test_calls_at_once_are_few(server: ServerInTest, ada: Peer) -> None:
    """Of an address; a call that ends makes room."""
    calls = [await evaluate(server, asking((at,))) for at in range(EVALUATIONS_OF_AN_ADDRESS)]
    asked = [await ada.asked() for _ in calls]
    (first,) = [each for each in asked if each.moves == encode_moves((0,))]
    ended = await ending(server, asking(()))
    assert (ended.reason, ended.code) == (
        "TOO_MANY_STREAMS",
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )
    await ada.evaluate(play_pb.Evaluation(evaluation=first.evaluation, cell=3))
    assert (await next_of(calls[0])).cell == 3
    assert await calls[0].read() is grpc.aio.EOF
    await server.until(lambda: server.tasks("Evaluate") < EVALUATIONS_OF_AN_ADDRESS)
    await evaluate(server, asking((9,)))
    assert (await ada.asked()).moves == encode_moves((9,))
