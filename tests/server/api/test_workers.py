"""A worker's stream: whole games, leased and handed in."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.peer import WAIT_TIMEOUT, bearer
from tests.server_in_test import FIVE

from meijin.game import encode_moves
from meijin.v1 import game_pb2, play_service_pb2
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.v1 import worker_service_pb2 as pb
from meijin.v1.worker_service_pb2_grpc import WorkerServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

BLACK_WINS = game_pb2.Outcome(ending=game_pb2.ENDING_FIVE, winner=game_pb2.COLOR_BLACK)
LATE = game_pb2.Outcome(
    ending=game_pb2.ENDING_TIME,
    winner=game_pb2.COLOR_BLACK,
    at_fault=game_pb2.PARTY_WHITE,
    detail="1.2 s for a move that had 1 s",
)


class ScriptedWorker:
    """One stream, read when the script waits for something."""

    def __init__(self, channel: grpc.aio.Channel, token: str) -> None:
        self.call: Any = WorkerServiceStub(channel).Work(metadata=bearer(token))
        self._facts: defaultdict[str, deque[Any]] = defaultdict(deque)

    async def next(self, kind: str) -> Any:
        """The next fact of a kind; others wait for who asks for them."""
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            while not self._facts[kind]:
                message = await self.call.read()
                fact = message.WhichOneof("fact")
                self._facts[fact].append(getattr(message, fact))
        return self._facts[kind].popleft()

    async def hello(self, *names: str, room: int = 8) -> pb.WorkerWelcome:
        capabilities = play_service_pb2.Capabilities(
            rules=game_pb2.Rule.values()[1:], min_board_size=3, max_board_size=22, any_line=True
        )
        sides = [
            play_service_pb2.Hello(
                protocol_version=PROTOCOL_VERSION, bot_name=name, capabilities=capabilities
            )
            for name in names
        ]
        await self.call.write(pb.WorkRequest(hello=pb.WorkerHello(sides=sides, room=room)))
        welcome: pb.WorkerWelcome = await self.next("welcome")
        return welcome

    async def lease(self) -> list[pb.LeasedPair]:
        """The pairs of the next message, which is a lease."""
        return list((await self.next("lease")).pairs)

    async def hand_in(self, *pairs: list[pb.PlayedGame], room: int = 0) -> None:
        played = pb.PlayedPairs(pairs=[pb.PlayedPair(games=games) for games in pairs], room=room)
        await self.call.write(pb.WorkRequest(played=played))

    async def acknowledged(self) -> list[str]:
        """What is stored next."""
        return list((await self.next("acknowledged")).pairing_ids)


def record(
    leased: pb.LeasedGame, moves: Any = FIVE, outcome: game_pb2.Outcome = BLACK_WINS, **more: Any
) -> pb.PlayedGame:
    times = [1_000_000 * (ply + 1) for ply in range(len(moves))]
    played = pb.PlayedGame(
        pairing_id=leased.pairing_id,
        actions=encode_moves(moves),
        raw_ns=times,
        charged_ns=times,
        outcome=outcome,
        **more,
    )
    played.start_time.FromSeconds(1_700_000_000)
    played.end_time.FromSeconds(1_700_000_009)
    return played


async def worker_of(server: ServerInTest, *names: str, room: int = 8) -> ScriptedWorker:
    worker = ScriptedWorker(await server.channel(), server.operator_token)
    await worker.hello(*names, room=room)
    return worker


async def test_a_pair_is_begun_and_ended_at_once(server: ServerInTest) -> None:
    """Its two games count in the tournament, and stand in the store as any other's."""
    worker = await worker_of(server, "ada", "bob")
    key = await server.tournament("ada", "bob", rounds=2, unrated=True)
    (pair,) = await worker.lease()
    assert [(game.black, game.white) for game in pair.games] == [("ada", "bob"), ("bob", "ada")]
    analysis = play_service_pb2.Analysis(score=40, depth=3, nodes=99)
    first, second = pair.games
    await worker.hand_in([record(first, analyses={0: analysis}), record(second)])
    await server.until_finished(key)
    games = [await server.game(key) for key in ("1", "2")]
    assert [game.outcome for game in games] == [BLACK_WINS, BLACK_WINS]
    assert [move.cell for move in games[0].moves] == list(FIVE)
    assert games[0].moves[2].charged_time.nanos == 3_000_000
    assert games[0].moves[0].analysis.depth == 3
    assert (games[0].end_time.seconds - games[0].start_time.seconds) == 9
    report = await server.report(key)
    assert report.tournament.state == tournament_pb.TOURNAMENT_STATE_FINISHED
    assert report.tournament.finished_games == 2


async def test_it_holds_as_many_games_as_it_has_room_for(server: ServerInTest) -> None:
    """More come as soon as it has handed some in; both games of a pair are leased together."""
    worker = await worker_of(server, "ada", "bob", room=2)
    key = await server.tournament("ada", "bob", rounds=6, unrated=True)
    for _ in range(3):
        (pair,) = await worker.lease()
        await worker.hand_in([record(game) for game in pair.games])
        assert await worker.acknowledged() == [game.pairing_id for game in pair.games]
    await server.until_finished(key)


async def test_a_forfeit_has_its_evidence(server: ServerInTest) -> None:
    """Who was late loses, and the ledger has what the worker has measured."""
    worker = await worker_of(server, "ada", "bob")
    await server.tournament("ada", "bob", rounds=1, unrated=True)
    (pair,) = await worker.lease()
    evidence = json.dumps({"raw_us": 1_200_000})
    await worker.hand_in([record(pair.games[0], FIVE[:3], LATE, evidence=evidence)])
    await worker.acknowledged()
    assert (await server.game()).outcome == LATE
    (fault,) = (await server.ask("FaultService/ListFaults")).faults
    assert (fault.bot, fault.evidence["raw_us"]) == ("bob", 1_200_000)


@pytest.mark.parametrize(
    ("moves", "outcome", "words"),
    [
        ((0, 0), BLACK_WINS, "no such game can be played"),
        (FIVE[:5], BLACK_WINS, "the outcome is open"),
        (FIVE, LATE, "the outcome is"),
        (FIVE[:4], LATE, "the outcome is open"),
        (FIVE, game_pb2.Outcome(ending=game_pb2.ENDING_DRAW), "the outcome is"),
    ],
    ids=["occupied", "no five", "late after the end", "the other's fault", "no draw"],
)
async def test_the_rules_judge_again(
    server: ServerInTest, moves: Any, outcome: game_pb2.Outcome, words: str
) -> None:
    """A record that they contradict ends the stream, and neither game of its pair counts."""
    worker = await worker_of(server, "ada", "bob")
    await server.tournament("ada", "bob", rounds=2, unrated=True)
    (pair,) = await worker.lease()
    await worker.hand_in([record(pair.games[0]), record(pair.games[1], moves, outcome)])
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await worker.acknowledged()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(caught.value.details())
    assert (await server.report()).tournament.finished_games == 0


async def test_what_a_lost_worker_held_is_leased_anew(server: ServerInTest) -> None:
    """Another worker gets the same games; a record that comes twice counts once."""
    lost = await worker_of(server, "ada", "bob")
    key = await server.tournament("ada", "bob", rounds=2, unrated=True)
    (pair,) = await lost.lease()
    lost.call.cancel()
    other = await worker_of(server, "ada", "bob")
    (again,) = await other.lease()
    ids = sorted(game.pairing_id for game in pair.games)
    assert sorted(game.pairing_id for game in again.games) == ids
    games = [record(game) for game in again.games]
    await other.hand_in(games, games)
    assert sorted(await other.acknowledged()) == sorted(ids * 2)
    await server.until_finished(key)
    assert (await server.report(key)).tournament.finished_games == 2


async def test_a_decided_tournament_takes_its_games_back(server: ServerInTest) -> None:
    """The worker is told which are not needed, and what it has played of them is dropped."""
    worker = await worker_of(server, "ada", "bob")
    key = await server.tournament("ada", "bob", rounds=2, unrated=True)
    (pair,) = await worker.lease()
    await server.cancel(key)
    withdrawn = (await worker.next("lease")).withdrawn
    assert sorted(withdrawn) == sorted(game.pairing_id for game in pair.games)
    await worker.hand_in([record(game) for game in pair.games])
    assert len(await worker.acknowledged()) == 2
    assert not (await server.ask("GameService/ListGames")).games
