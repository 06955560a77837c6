"""Positions outside of games, evaluated over the stream of a bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.peer import CallEnding, Peer, ending_of_call
from tests.server_in_test import SMALL

from meijin.game import encode_moves
from meijin.server.api.calls.limits import EVALUATIONS_OF_AN_ADDRESS, Address
from meijin.server.api.services.analysis import MAX_POSITIONS
from meijin.server.match.live import evaluations as module
from meijin.server.settings import Registration
from meijin.v1 import analysis_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire.values import variant_to_proto

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

VARIANT = variant_to_proto(SMALL)
WON = (0, 5, 1, 6, 2, 7, 3, 8, 4)
EVALUATE = "AnalysisService/Evaluate"


def asking(*positions: Sequence[int], bot: str = "ada", **more: int) -> dict[str, Any]:
    asked = [pb.EvaluatedPosition(variant=VARIANT, moves=encode_moves(each)) for each in positions]
    return {"bot": bot, "positions": asked, **more}


async def next_of(call: Any) -> pb.EvaluateResponse:
    response = await call.read()
    assert isinstance(response, pb.EvaluateResponse)
    return response


async def ending(
    server: ServerInTest, request: dict[str, Any], token: str | None = None
) -> CallEnding:
    return await ending_of_call(server.watch(EVALUATE, token, **request))


@pytest.fixture
async def ada(server: ServerInTest) -> AsyncIterator[Peer]:
    yield await server.bot("ada", evaluates=True)  # noqa: PT022 - what follows is the server's end


async def test_answers_come_as_they_are_given(server: ServerInTest, ada: Peer) -> None:
    """Each with its place in the request, and what the bot said of its search."""
    call = server.watch(EVALUATE, **asking((), (12, 0), time_ms=250, nodes=700))
    first, second = await ada.asked(), await ada.asked()
    assert (first.moves, second.moves) == (b"", encode_moves((12, 0)))
    for each in (first, second):
        assert (each.time_ms, each.nodes, each.variant) == (250, 700, VARIANT)
    said = play_pb.Analysis(score=-30, depth=4, nodes=650, pv=encode_moves((7, 8, 500, 9)))
    number = second.evaluation
    await ada.evaluate(
        play_pb.Evaluation(evaluation=number, cell=7, analysis=said, thinking_us=2500)
    )
    found = await next_of(call)
    assert (found.position, found.cell, found.failure) == (1, 7, "")
    assert found.variant == VARIANT
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
    black, white = await server.pair(bots={"evaluates": True}, unrated=True)
    turn = await black.turn()
    call = server.watch(EVALUATE, **asking((3,), bot=black.name))
    asked = await black.asked()
    await black.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=0))
    assert (await next_of(call)).cell == 0
    await black.play(turn, 0)
    assert (await white.turn()).moves == encode_moves((0,))


async def test_what_can_not_be_is_refused(server: ServerInTest, ada: Peer) -> None:
    """By the field that is wrong, before the bot is asked anything."""
    assert ada.name == "ada"
    await server.bot("eve")
    await server.register("away")
    swap2 = game_pb2.Variant(opening_rule=game_pb2.OPENING_RULE_SWAP2)
    for request, reason, words in (
        (asking((3, 3)), "INVALID_REQUEST", "positions[0]: "),
        (asking((), WON), "INVALID_REQUEST", "positions[1]: the game is over there"),
        (asking((25,)), "INVALID_REQUEST", "positions[0]: "),
        (asking((), time_ms=60_001), "INVALID_REQUEST", "time_ms 60001 is above 60000"),
        (asking(*[()] * (MAX_POSITIONS + 1)), "INVALID_REQUEST", "at most 256 a call"),
        (
            {"bot": "ada", "positions": [pb.EvaluatedPosition(variant=swap2)]},
            "INVALID_REQUEST",
            "positions[0]: the bot does not play swap2 openings",
        ),
        (asking((), bot="eve"), "WRONG_STATE", "does not evaluate positions"),
        (asking((), bot="away"), "WRONG_STATE", 'bot "away" is not connected; start it'),
        (asking((), bot="nobody"), "NOT_FOUND", 'no bot "nobody"'),
    ):
        ended = await ending(server, request)
        assert ended.reason == reason
        assert words in ended.details


@pytest.mark.settings(registration=Registration.INVITATION)
async def test_operators_owners_and_the_bot_itself_may_ask(server: ServerInTest) -> None:
    """Others hear that there is no such bot of theirs, or that their token is no such one."""
    mia, eve = [await server.token("owner", name) for name in ("mia", "eve")]
    tokens = [await server.register(name, owner="mia") for name in ("ada", "bob")]
    ada = await server.bot("ada", token=tokens[0], evaluates=True)
    for token in (server.operator_token, mia, tokens[0]):
        call = server.watch(EVALUATE, token, **asking(()))
        asked = await ada.asked()
        await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=1))
        assert (await next_of(call)).cell == 1
    for token in (eve, tokens[1]):
        assert (await ending(server, asking(()), token)).reason == "NOT_FOUND"
    assert (await server.refusal(EVALUATE, **asking(()))).reason == "UNKNOWN_TOKEN"


async def test_a_bot_that_leaves_fails_what_it_was_asked(server: ServerInTest, ada: Peer) -> None:
    """All of it at once, what waits for its turn too."""
    count = module.MAX_OUTSTANDING + 2
    call = server.watch(EVALUATE, **asking(*[()] * count))
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
    call = server.watch(EVALUATE, **asking(*[()] * (module.MAX_OUTSTANDING + 2)))
    asked = [await ada.asked() for _ in range(module.MAX_OUTSTANDING)]
    call.cancel()
    await server.until(lambda: not server.tasks("Evaluate"))
    other = server.watch(EVALUATE, **asking((7,)))
    last = await ada.asked()
    assert last.moves == encode_moves((7,))
    numbers = (asked[0].evaluation, last.evaluation, last.evaluation)
    await ada.evaluate(*(play_pb.Evaluation(evaluation=each, cell=0) for each in numbers))
    assert (await next_of(other)).cell == 0
    assert (await ada.notice()).evaluation == last.evaluation
    assert (ada.unread("evaluations"), ada.unread("notices")) == (0, 0)


async def test_answers_that_can_not_be_are_told_as_failures(
    server: ServerInTest, ada: Peer
) -> None:
    """Whatever a bot sends: cells off the board, occupied ones, and words without end."""
    call = server.watch(EVALUATE, **asking((3,), (3,), (3,)))
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
async def test_answers_that_nobody_asked_for_end_the_stream(ada: Peer) -> None:
    """Each is told; too many of them are too much, as elsewhere."""
    first, *others = (play_pb.Evaluation(evaluation=number, cell=0) for number in range(5))
    await ada.evaluate(first)
    notice = await ada.notice()
    assert (notice.game, notice.reason) == (0, play_pb.NOTICE_REASON_UNKNOWN_EVALUATION)
    assert notice.detail == "no evaluation 0 waits for an answer"
    await ada.evaluate(*others)
    assert (await ada.closed()).reason == "TOO_MANY_NOTICES"


async def test_a_message_holds_no_more_answers_than_were_asked(ada: Peer) -> None:
    await ada.evaluate(*[play_pb.Evaluation(evaluation=1)] * 200)
    ended = await ada.closed()
    words = "200 evaluations in a message; at most 128"
    assert (ended.reason, ended.details) == ("TOO_MANY_ACTIONS", words)


async def test_a_bot_that_says_nothing_is_told_of(
    server: ServerInTest, ada: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit counts from its last answer, and what comes after it is no mistake."""
    monkeypatch.setattr(module, "PATIENCE", timedelta(milliseconds=20))
    call = server.watch(EVALUATE, **asking((), time_ms=30))
    asked = await ada.asked()
    assert (await next_of(call)).failure == "the bot has not answered for 0.05 s"
    for _ in range(2):
        await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=0))
    assert (await ada.notice()).evaluation == asked.evaluation
    assert ada.unread("notices") == 0


async def test_calls_at_once_are_few(server: ServerInTest, ada: Peer) -> None:
    """Of an address; a call that ends makes room."""
    with ExitStack() as others:
        for _ in range(EVALUATIONS_OF_AN_ADDRESS - 1):
            others.enter_context(server.app.limits.evaluations.hold(Address("ipv4:127.0.0.1")))
        call = server.watch(EVALUATE, **asking(()))
        asked = await ada.asked()
        assert (await ending(server, asking(()))).reason == "TOO_MANY_STREAMS"
        await ada.evaluate(play_pb.Evaluation(evaluation=asked.evaluation, cell=3))
        assert [each.cell async for each in call] == [3]
        last = server.watch(EVALUATE, **asking((9,)))
        assert (await ada.asked()).moves == encode_moves((9,))
        last.cancel()
