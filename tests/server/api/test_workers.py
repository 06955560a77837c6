"""A worker's stream: whole games, leased and handed in."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.peer import WAIT_TIMEOUT, bearer
from tests.server_in_test import FIVE

from meijin.game import Ending, Outcome, Variant, decode_moves, encode_moves
from meijin.server.api.calls.limits import Limits
from meijin.server.api.streams import play
from meijin.server.api.streams.records import MAX_DETAIL, when_played
from meijin.server.match.live.commands import PlayedGame
from meijin.server.token_bucket import Rate
from meijin.store.schema import PairingId
from meijin.v1 import fault_service_pb2, game_pb2, play_service_pb2
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.v1 import worker_service_pb2 as pb
from meijin.v1.worker_service_pb2_grpc import WorkerServiceStub
from meijin.wire.contract import MAX_EVIDENCE, MAX_PV, MAX_RECORDS_BYTES, PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.server_in_test import ServerInTest

NS_OF_A_DAY = 86_400 * 10**9
BLACK_WINS = game_pb2.Outcome(ending=game_pb2.ENDING_FIVE, winner=game_pb2.COLOR_BLACK)
LATE = game_pb2.Outcome(
    ending=game_pb2.ENDING_TIME,
    winner=game_pb2.COLOR_BLACK,
    at_fault=game_pb2.PARTY_WHITE,
    detail="1.2 s for a move that had 1 s",
)


class ScriptedWorker:
    """One stream, read when the script waits for something."""

    def __init__(self, channel: grpc.aio.Channel, token: str | None) -> None:
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

    async def read_to_the_end(self) -> None:
        while True:
            await self.call.read()

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


async def faults_of_games(server: ServerInTest) -> list[fault_service_pb2.Fault]:
    """What the ledger has of games; a busy machine's stalls stand in it too."""
    faults = (await server.ask("FaultService/ListFaults")).faults
    return [each for each in faults if each.game_id]


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
    played.start_time.GetCurrentTime()
    played.end_time.GetCurrentTime()
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
    records = [record(first, analyses={0: analysis}), record(second)]
    await worker.hand_in(records)
    await server.until_finished(key)
    games = [await server.game(key) for key in ("1", "2")]
    assert [game.outcome for game in games] == [BLACK_WINS, BLACK_WINS]
    assert [move.cell for move in games[0].moves] == list(FIVE)
    assert games[0].moves[2].charged_time.nanos == 3_000_000
    assert games[0].moves[0].analysis.depth == 3
    assert games[0].start_time.ToMicroseconds() == records[0].start_time.ToMicroseconds()
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
    (fault,) = await faults_of_games(server)
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


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"evidence": "[" * 30_000}, "more than 8 levels"),
        ({"evidence": '{"a":' * 9 + "1" + "}" * 9}, "more than 8 levels"),
        ({"evidence": json.dumps({"a": [0] * 1000})}, "more than 8 levels, or 1000 values"),
        ({"evidence": json.dumps({"a": "x" * MAX_EVIDENCE})}, "more than 32768 characters"),
        ({"evidence": "[1]"}, "no JSON object"),
        ({"evidence": '{"a": NaN}'}, "no number of JSON"),
        ({"evidence": '{"a": 1e999}'}, "a number is too large"),
        ({"evidence": '{"a": 1' + "0" * 400 + "}"}, "a number is too large"),
        ({"evidence": '{"a": 1' + "0" * 5000 + "}"}, "evidence: "),
        ({"analyses": {4_000_000_000: play_service_pb2.Analysis()}}, "nothing was played at ply"),
        (
            {"analyses": {ply: play_service_pb2.Analysis() for ply in range(4)}},
            "more analyses than actions",
        ),
        ({"pairing_id": "x"}, "that is no number"),
        ({"raw_ns": [1]}, "3 actions have 4 raw and 3 charged times"),
        (
            {"actions": encode_moves(FIVE[:4]), "raw_ns": [1], "charged_ns": [2**64 - 1]},
            "an action takes longer than any record holds",
        ),
    ],
    ids=[
        "deep",
        "nine levels",
        "many",
        "long",
        "list",
        "nan",
        "infinite",
        "huge",
        "digits",
        "ply",
        "analyses",
        "id",
        "times",
        "years",
    ],
)
async def test_a_record_that_nobody_could_read_is_refused(
    server: ServerInTest, fields: dict[str, Any], words: str
) -> None:
    """It is told why, and reaches neither the store nor the ledger."""
    worker = await worker_of(server, "ada", "bob")
    await server.tournament("ada", "bob", rounds=1, unrated=True)
    (pair,) = await worker.lease()
    late = record(pair.games[0], FIVE[:3], LATE)
    late.MergeFrom(pb.PlayedGame(**fields))
    await worker.hand_in([late])
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await worker.acknowledged()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(caught.value.details())
    assert not await faults_of_games(server)


async def test_strange_evidence_is_told_to_everybody(server: ServerInTest) -> None:
    """Halves of characters, controls and a traceback that is no text do no harm in the ledger."""
    worker = await worker_of(server, "ada", "bob")
    await server.tournament("ada", "bob", rounds=1, unrated=True)
    (pair,) = await worker.lease()
    evidence = r'{"half\ud800": "\udfff\u0000", "traceback": ["a", 1], "deep": [{"a": null}]}'
    await worker.hand_in([record(pair.games[0], FIVE[:3], LATE, evidence=evidence)])
    await worker.acknowledged()
    (fault,) = await faults_of_games(server)
    assert fault.evidence["half?"] == "?"
    assert fault.traceback == "['a', 1]"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (pb.PlayedPairs(pairs=[pb.PlayedPair()]), "0 games in a pair"),
        (pb.PlayedPairs(pairs=[pb.PlayedPair(games=[pb.PlayedGame()] * 3)]), "3 games in a pair"),
        (pb.PlayedPairs(pairs=[pb.PlayedPair()] * 2001), "2001 pairs in a message"),
    ],
    ids=["no games", "three games", "many pairs"],
)
async def test_a_message_has_pairs_of_games(
    server: ServerInTest, message: pb.PlayedPairs, words: str
) -> None:
    worker = await worker_of(server, "ada", "bob")
    await worker.call.write(pb.WorkRequest(played=message))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await worker.acknowledged()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(caught.value.details())


async def test_records_of_nobodys_games_are_no_flood(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps sending them is read slowly, and then not any more."""
    monkeypatch.setattr(play, "MAX_THROTTLING", timedelta(0))
    monkeypatch.setattr(play, "MESSAGE_RATE", Rate(per_second=0.001, burst=1))
    worker = await worker_of(server, "ada", "bob")
    nobodys = pb.WorkRequest(
        played=pb.PlayedPairs(pairs=[pb.PlayedPair(games=[pb.PlayedGame(pairing_id="9")])])
    )
    for _ in range(2):
        await worker.call.write(nobodys)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await worker.next("lease")
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_the_largest_pair_is_one_message(server: ServerInTest) -> None:
    """Two games on a full board of 22x22, with the longest lines and times of days."""
    worker = await worker_of(server, "ada", "bob")
    variant = Variant(width=22, height=22)
    key = await server.tournament("ada", "bob", rounds=2, unrated=True, variant=variant)
    (pair,) = await worker.lease()
    opening = decode_moves(pair.games[0].opening)
    moves = full_board(variant, opening)
    line = encode_moves([483] * MAX_PV)
    analysis = play_service_pb2.Analysis(score=-(2**31), depth=2**32 - 1, nodes=2**64 - 1, pv=line)
    draw = game_pb2.Outcome(ending=game_pb2.ENDING_DRAW)
    records = [record(leased, moves, draw) for leased in pair.games]
    for each in records:
        for ply in range(len(opening), variant.cells):
            each.analyses[ply].CopyFrom(analysis)
        each.raw_ns[:] = each.charged_ns[:] = [NS_OF_A_DAY] * len(moves)
        each.evidence = json.dumps({"traceback": "x" * (MAX_EVIDENCE - 20)})
    size = pb.PlayedPairs(pairs=[pb.PlayedPair(games=records)]).ByteSize()
    assert 0.9 * MAX_RECORDS_BYTES < size < MAX_RECORDS_BYTES - 2 * MAX_DETAIL
    await worker.hand_in(records)
    assert len(await worker.acknowledged()) == 2
    await server.until_finished(key)
    assert len((await server.game()).moves) == variant.cells


@pytest.mark.settings(write_timeout=timedelta(seconds=0.1))
async def test_a_worker_that_does_not_read_is_let_go(server: ServerInTest) -> None:
    """What it holds is leased to others; meanwhile no more is kept for it than a message."""
    small = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))
    deaf = ScriptedWorker(await server.channel(*small), server.operator_token)
    await deaf.hello("ada", "bob", room=10_000)
    workers = server.parts.scheduler.leases.workers
    await server.until(lambda: workers)
    await server.tournament("ada", "bob", rounds=4000, unrated=True)
    await server.until(lambda: not workers)
    worker = await worker_of(server, "ada", "bob")
    assert await worker.lease()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await deaf.read_to_the_end()
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_workers_stream_ends_with_its_token(server: ServerInTest) -> None:
    """It hands nothing in any more that anybody has revoked the token of."""
    token = await server.token("operator", label="lab")
    worker = ScriptedWorker(await server.channel(), token)
    await worker.hello("ada", "bob")
    await server.ask("TokenService/RevokeToken", token_id="2")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await worker.lease()
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (12, 15, (12, 15)),
        (5, 15, (10, 20)),
        (8, 9, (19, 20)),
        (30, 33, (17, 20)),
        (12, 99, (10, 20)),
    ],
    ids=["right", "before its lease", "slow clock", "fast clock", "long"],
)
def test_no_clock_but_the_servers_dates_a_game(
    start: int, end: int, expected: tuple[int, int]
) -> None:
    """It has ended now, after as long as the worker says, where that can't be; leased at 10, now 20."""
    zero = datetime(2026, 1, 1, tzinfo=UTC)
    start_time, end_time, leased, now, *times = (
        zero + timedelta(seconds=each) for each in (start, end, 10, 20, *expected)
    )
    outcome = Outcome(Ending.DRAW)
    played = PlayedGame(PairingId(1), start_time, end_time, [], {}, outcome, {})
    assert when_played(played, leased, now) == tuple(times)


def full_board(variant: Variant, opening: Sequence[int]) -> list[int]:
    """All cells that an opening leaves, so that nobody gets five in a row."""
    cells = [cell for cell in range(variant.cells) if cell not in opening]
    sides: list[list[int]] = [[], []]
    for cell in cells:
        sides[(cell % variant.width // 2 + cell // variant.width) % 2].append(cell)
    blacks = (variant.cells + 1) // 2 - (len(opening) + 1) // 2
    while len(sides[0]) > blacks:
        sides[1].append(sides[0].pop())
    while len(sides[1]) > len(cells) - blacks:
        sides[0].append(sides[1].pop())
    first, second = sides if len(opening) % 2 == 0 else reversed(sides)
    moves = [cell for pair in zip_longest(first, second) for cell in pair]
    return [cell for cell in moves if cell is not None]


async def test_sides_of_a_stranger_wait_as_hellos_do(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where anybody may bring a worker, no stream is a way to make bots faster; an operator may."""
    turns = []

    async def turn(_: Limits, address: str, *, is_return: bool) -> None:
        turns.append((address.partition(":")[0], is_return))

    monkeypatch.setattr(Limits, "hello_turn", turn)
    await ScriptedWorker(await server.channel(), server.operator_token).hello("ada", "bob")
    assert turns == []
    await ScriptedWorker(await server.channel(), None).hello("cleo", "dan", "eve")
    assert turns == [("ipv4", False)] * 3
