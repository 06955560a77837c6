"""Matches that a test ends, over the wire and played by scripted bots."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from sqlalchemy import Connection, select, update

from meijin.game import Party, encode_moves
from meijin.server import storage
from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.sprt import SprtStanding
from meijin.store import Database
from meijin.store.schema import Game, GameState, Pairing, Tournament, TournamentId, TournamentState
from meijin.store.tournaments import add_pairings, set_state
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.server.match.live.live_game import LiveGame

NAMES = ("ada", "bob")
PATIENCE = 20.0
OPENINGS = [encode_moves((12, 7, 5 * row + column)) for row in (0, 3, 4) for column in range(3)]
"""Nine on 5x5, none of them the image of another."""
RUNNING, FINISHED, CANCELLED = (
    pb.TOURNAMENT_STATE_RUNNING,
    pb.TOURNAMENT_STATE_FINISHED,
    pb.TOURNAMENT_STATE_CANCELLED,
)
WIDE = {"elo0": 0, "elo1": 100}
"""Ten pairs that one bot wins decide, nine do not."""
PAIRS_NEEDED = 10


async def create(server: ServerInTest, *, test: dict[str, Any] = WIDE, **more: Any) -> str:
    """Make a match of ada and bob."""
    form, sprt = pb.TOURNAMENT_FORMAT_SPRT, pb.Sprt(**test)
    settings: dict[str, Any] = {
        "format": form,
        "openings": OPENINGS,
        "rounds": 0,
        "sprt": sprt,
    } | more
    return await server.tournament(*NAMES, **settings)


async def get(server: ServerInTest, key: str) -> pb.Tournament:
    """One tournament."""
    request = pb.GetTournamentRequest(tournament_id=key)
    return (await (await server.tournaments()).GetTournament(request)).tournament


async def lose(peer: Peer) -> None:
    """Resign every game for ever."""
    while True:
        await peer.resign((await peer.started()).game)


async def play(peer: Peer) -> None:
    """Take the first free cell at every turn, for ever."""
    await peer.play_out(1_000_000)


@asynccontextmanager
async def players(
    server: ServerInTest, *, loser: str | None = "bob", max_games: int = 1
) -> AsyncIterator[None]:
    """Both bots, of which one may resign all its games."""
    peers = [await server.bot(name, max_games=max_games) for name in NAMES]
    tasks = [asyncio.create_task((lose if peer.name == loser else play)(peer)) for peer in peers]
    yield
    for task in tasks:
        task.cancel()


def rows_of(connection: Connection) -> Sequence[Any]:
    """Every planned game with what became of it, voids included."""
    query = select(Pairing.number, Pairing.opening, Pairing.black_id, Game.state, Game.at_fault)
    joined = query.outerjoin(Game, Game.pairing_id == Pairing.id).order_by(Pairing.number, Game.id)
    return connection.execute(joined).all()


def assert_pairs(rows: Sequence[Any]) -> None:
    """Games 2k - 1 and 2k have one opening and both colours; no opening comes again."""
    games = {row.number: row for row in rows}
    dealt = [games[number].opening for number in sorted(games) if number % 2]
    for number, row in games.items():
        if number % 2 and number + 1 in games:
            other = games[number + 1]
            assert (row.opening, row.black_id) == (other.opening, 3 - other.black_id)
    assert len(set(dealt)) == len(dealt)
    assert set(dealt[: len(OPENINGS)]) <= set(OPENINGS)


# -- deciding ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """How a match ends when one of the two loses every game."""

    loser: str
    decision: pb.SprtDecision.ValueType
    pairs: list[int]
    words: str


ENDS = [
    End("bob", pb.SPRT_DECISION_ELO1, [0, 0, 0, 0, 10], "100 normalised Elo accepted, 0 rejected"),
    End("ada", pb.SPRT_DECISION_ELO0, [7, 0, 0, 0, 0], "0 normalised Elo accepted, 100 rejected"),
]


@pytest.mark.parametrize("end", ENDS, ids=[end.loser for end in ENDS])
async def test_a_match_ends_when_it_is_decided(
    start_server: StartServer, any_database_url: str, end: End
) -> None:
    """With the pair that decides it, and says for whom."""
    async with start_server(database_url=any_database_url) as server:
        async with players(server, loser=end.loser):
            key = await create(server)
            await server.until_finished(key)
        found = await get(server, key)
        assert found.sprt.decision == end.decision
        assert list(found.sprt.pairs) == end.pairs
        assert found.verdict == f"ada over bob: {end.words}"
        assert (found.finished_games, found.running_games) == (2 * sum(end.pairs), 0)
        assert found.planned_games == 100_000
        assert found.end_time.seconds >= found.create_time.seconds


async def test_the_path_of_the_ratio(server: ServerInTest) -> None:
    """From the first result to the bound; as few points as are asked for, but for the ends."""
    async with players(server):
        key = await create(server)
        await server.until_finished(key)
    service = await server.tournaments()
    path = await service.ListTestPoints(pb.ListTestPointsRequest(tournament_id=key))
    assert [point.games for point in path.points] == list(range(1, 2 * PAIRS_NEEDED + 1))
    assert (path.points[0].llr, path.points[0].HasField("elo")) == (0, False)
    end, found = path.points[-1], await get(server, key)
    assert end.llr == found.sprt.llr >= path.upper > 0 > path.lower
    assert end.elo_low < end.elo <= end.elo_high
    assert found.create_time.ToDatetime() < end.time.ToDatetime() <= found.end_time.ToDatetime()
    ends = pb.ListTestPointsRequest(tournament_id=key, max_points=2)
    assert list((await service.ListTestPoints(ends)).points) == [path.points[0], end]


async def test_only_a_test_has_a_path(server: ServerInTest) -> None:
    """The answer says what the tournament is, or how many points there may be."""
    await server.pair()
    service = await server.tournaments()
    with pytest.raises(grpc.aio.AioRpcError, match="round-robin"):
        await service.ListTestPoints(pb.ListTestPointsRequest(tournament_id="1"))
    for most in (1, 1001):
        with pytest.raises(grpc.aio.AioRpcError, match="is not from 2 to 1000"):
            await service.ListTestPoints(
                pb.ListTestPointsRequest(tournament_id="1", max_points=most)
            )


async def test_games_that_run_at_the_decision_are_void(
    start_server: StartServer, any_database_url: str
) -> None:
    """By nobody's fault; they are not played again, and pairs that had not begun are dropped."""
    async with start_server(database_url=any_database_url) as server:
        ada, bob = [await server.bot(name, max_games=30) for name in NAMES]
        key = await create(server)
        starts = [await bob.started() for _ in range(30)]
        playing = asyncio.create_task(play(ada))
        for start in starts:
            await bob.resign(start.game)
        await server.until_finished(key)
        playing.cancel()
        found = await get(server, key)
        assert found.sprt.decision == pb.SPRT_DECISION_ELO1
        assert found.sprt.pairs[4] == PAIRS_NEEDED
        assert found.running_games == 0
    with Database(any_database_url) as database:
        rows = database.read(rows_of)
    states = Counter(row.state for row in rows)
    assert states[GameState.FINISHED] == 2 * PAIRS_NEEDED
    assert states[GameState.VOID] >= 10
    assert states[None] <= 1
    assert len(rows) % 2 == 0
    voids = [row for row in rows if row.state is GameState.VOID]
    assert {row.at_fault.value for row in voids} == {"nobody"}
    assert len(rows) == len({row.number for row in rows})


@pytest.mark.settings(max_notices=2)
async def test_late_moves_in_void_games_are_no_abuse(server: ServerInTest) -> None:
    """The bot had not heard of the decision when it sent them; a second one is not excused."""
    ada, bob = [await server.bot(name, max_games=40) for name in NAMES]
    await create(server)
    decisive = [(await bob.started()).game for _ in range(2 * PAIRS_NEEDED)]
    turns = [await ada.turn() for _ in range(20)]
    late = [turn for turn in turns if turn.game not in decisive]
    assert len(late) == 10
    with server.held():
        for game in decisive:
            await bob.resign(game)
        await server.until(lambda: not server.running)
        for turn in late:
            await ada.play(turn, 24)
        notices = [await ada.notice() for _ in late]
    assert {notice.game for notice in notices} == {turn.game for turn in late}
    assert await server.connected() == set(NAMES)
    for turn in late[:3]:
        await ada.play(turn, 24)
    assert (await ada.closed()).reason == "TOO_MANY_NOTICES"


async def test_a_match_is_bounded(server: ServerInTest) -> None:
    """After the most games that it may have it ends undecided."""
    async with players(server, max_games=8):
        key = await create(server, test=WIDE | {"most_games": 6})
        await server.until_finished(key)
    found = await get(server, key)
    assert (found.planned_games, found.finished_games) == (6, 6)
    assert found.sprt.decision == pb.SPRT_DECISION_OPEN
    assert found.verdict == "undecided after 6 games, the most there were to be"


async def test_single_games_decide_too(server: ServerInTest) -> None:
    """In a trinomial test every game counts, also one whose pair is not complete."""
    async with players(server):
        key = await create(server, test=WIDE | {"unit": pb.SPRT_UNIT_GAMES})
        await server.until_finished(key)
    found = await get(server, key)
    assert found.sprt.decision == pb.SPRT_DECISION_ELO1
    assert (found.sprt.wins, found.sprt.draws, found.sprt.losses) == (13, 0, 0)
    assert list(found.sprt.pairs) == [0, 0, 0, 0, 6]
    assert found.settings.sprt.unit == pb.SPRT_UNIT_GAMES


async def test_given_openings_are_dealt_before_their_images(start_server: StartServer) -> None:
    """Each to two games, with the colours reversed."""
    async with start_server() as server, players(server, max_games=3):
        await server.until_finished(await create(server))
    with Database(server.settings.database) as database:
        rows = database.read(rows_of)
    assert {row.opening for row in rows} > set(OPENINGS)
    assert_pairs(rows)


async def test_free_bots_do_not_wait_for_plans(server: ServerInTest) -> None:
    """While a game ends another is planned for each that runs."""
    bots = [await server.bot(name, max_games=4) for name in NAMES]
    await create(server)
    for peer in bots:
        for _ in range(4):
            await peer.started()
    (run,) = server.parts.scheduler.runs.values()
    await server.until(lambda: len(run.pending) >= 4)
    assert len(run.pending) <= 5


@pytest.mark.parametrize("is_written", [False, True])
async def test_what_is_planned_is_stored_when_the_database_is_back(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, *, is_written: bool
) -> None:
    """Once, also when it was the answer of a commit that was lost."""
    write = Storage.write
    refused: list[object] = []

    async def write_or_fail(storage: Storage, *work: Any, **more: Any) -> Any:
        is_plan = add_pairings in (work[0], getattr(work[0], "func", None))
        is_refused = is_plan and len(refused) < 4
        if not is_refused or is_written:
            result = await write(storage, *work, **more)
        if is_refused:
            refused.append(work)
            raise StoreAwayError("the database does not answer")
        return result

    monkeypatch.setattr(Storage, "write", write_or_fail)
    monkeypatch.setattr(storage, "FIRST_RETRY", timedelta(milliseconds=10))
    async with start_server() as server:
        async with players(server, max_games=2):
            key = await create(server)
            await server.until_finished(key)
        assert (await get(server, key)).sprt.pairs[4] == PAIRS_NEEDED
    assert len(refused) == 4
    with Database(server.settings.database) as database:
        rows = database.read(rows_of)
    assert_pairs(rows)
    numbers = [row.number for row in rows if row.state is GameState.FINISHED]
    assert numbers == list(range(1, 2 * PAIRS_NEEDED + 1))


# -- repeats ----------------------------------------------------------------------


REPEATED: dict[str, Any] = {"openings": OPENINGS[:1], "test": WIDE | {"unit": pb.SPRT_UNIT_GAMES}}


@pytest.mark.parametrize("unrated", [True, False])
async def test_a_test_of_what_always_plays_the_same_ends_undecided(
    start_server: StartServer, any_database_url: str, *, unrated: bool
) -> None:
    """Every game after the first ones is left out, also where a later server reads the result."""
    async with start_server(database_url=any_database_url) as server:
        async with players(server, loser=None, max_games=2):
            key = await create(server, **REPEATED, unrated=unrated)
            await server.until_finished(key)
        found = await get(server, key)
    with Database(any_database_url) as database:
        keys = select(Game.symmetric_fingerprint).where(Game.state == GameState.FINISHED)
        games = database.read(lambda sql: sql.scalars(keys).all())
    assert found.sprt.decision == pb.SPRT_DECISION_NOTHING_NEW
    assert found.verdict.startswith("undecided: nothing new in the last 50 pairs of games;")
    standing = found.sprt
    counted = standing.wins + standing.draws + standing.losses
    assert counted == len(set(games)) > 1
    assert standing.repeats == len(games) - counted >= 100
    async with start_server(database_url=any_database_url) as server:
        assert (await get(server, key)).sprt == standing


async def test_a_restarted_server_knows_the_repeats(
    start_server: StartServer, any_database_url: str
) -> None:
    """It counts what it finds in the store as what it hears."""
    key = ""
    for ended_before in (30, 50):
        async with start_server(database_url=any_database_url) as server:
            ended: list[object] = []
            server.listen(ended=ended.append)
            async with players(server, loser=None, max_games=2):
                key = key or await create(server, **REPEATED)
                await server.until(partial(have_happened, ended, ended_before))
            (run,) = server.parts.scheduler.runs.values()
            heard = run.format.detail
    async with start_server(database_url=any_database_url) as server:
        (run,) = server.parts.scheduler.runs.values()
        read = run.format.detail
        assert isinstance(heard, SprtStanding)
        assert isinstance(read, SprtStanding)
        assert read.repeats >= heard.repeats > 0
        assert (read.wins, read.draws, read.losses) == (heard.wins, heard.draws, heard.losses)
        assert (await get(server, key)).sprt.repeats == read.repeats


async def test_a_voided_games_repeat_takes_its_place(start_server: StartServer) -> None:
    """The test counts as many games as before, and one repeat less until it is replayed."""
    async with start_server() as server:
        async with players(server, loser=None):
            key = await create(server, **REPEATED)
            await server.until_finished(key)
        before = (await get(server, key)).sprt
        request = game_service_pb2.VoidGameRequest(game_id="1", reason="the wrong engine")
        await (await server.games()).VoidGame(request)
        after = (await get(server, key)).sprt
    assert before.repeats - after.repeats == 1
    assert [getattr(after, name) for name in ("wins", "draws", "losses")] == [
        getattr(before, name) for name in ("wins", "draws", "losses")
    ]


# -- asking -----------------------------------------------------------------------


async def test_the_test_comes_back_as_it_was_made(server: ServerInTest) -> None:
    """With what was left out filled in."""
    for name in NAMES:
        await server.bot(name)
    scale = pb.SPRT_SCALE_LOGISTIC
    made = [
        (await get(server, await create(server, test=test))).settings
        for test in (
            {"elo0": -5, "elo1": 300, "alpha": 0.1, "scale": scale, "most_games": 40},
            {"elo1": 10},
        )
    ]
    assert made[0].sprt == pb.Sprt(
        elo0=-5,
        elo1=300,
        alpha=0.1,
        beta=0.05,
        scale=scale,
        unit=pb.SPRT_UNIT_PAIRS,
        most_games=40,
    )
    assert made[1].sprt == pb.Sprt(
        elo1=10,
        alpha=0.05,
        beta=0.05,
        scale=pb.SPRT_SCALE_NORMALISED,
        unit=pb.SPRT_UNIT_PAIRS,
        most_games=100_000,
    )
    assert made[0].format == pb.TOURNAMENT_FORMAT_SPRT
    assert list(made[0].openings) == OPENINGS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sprt": None}, "the format SPRT needs the test's hypotheses"),
        ({"format": pb.TOURNAMENT_FORMAT_GAUNTLET}, "sprt: for the format SPRT and no other"),
        ({"bots": ["ada", "bob", "cleo"]}, "a test is between two, not 3"),
        ({"rounds": 2}, "a test has none"),
        ({"sprt": pb.Sprt(elo0=10, elo1=0)}, "elo0 10 is not below elo1 0"),
        ({"sprt": pb.Sprt(elo0=0, elo1=float("nan"))}, "is not below elo1 nan"),
        ({"sprt": pb.Sprt(elo0=0, elo1=201)}, "within -200 and 200"),
        ({"sprt": pb.Sprt(elo1=10, alpha=0.5)}, "alpha 0.5 is not between 0 and 0.5"),
        ({"sprt": pb.Sprt(elo1=10, beta=-1)}, "beta -1 is not between 0 and 0.5"),
        ({"sprt": pb.Sprt(elo1=10, most_games=7)}, "most_games 7 is odd"),
        ({"sprt": pb.Sprt(elo1=10, most_games=1_000_002)}, "most_games 1000002 is above 1000000"),
        ({"sprt": pb.Sprt(elo1=10, scale=9)}, "sprt.scale: there is no 9"),  # type: ignore[arg-type]  # a later one
        ({"sprt": pb.Sprt(elo1=10, unit=9)}, "sprt.unit: there is no 9"),  # type: ignore[arg-type]  # a later one
    ],
)
async def test_an_impossible_test_is_refused(
    server: ServerInTest, changes: dict[str, Any], words: str
) -> None:
    """The error names the field and what is wrong with it."""
    for name in ("ada", "bob", "cleo"):
        await server.bot(name)
    bots = changes.get("bots", NAMES)
    plain: dict[str, Any] = {
        "format": pb.TOURNAMENT_FORMAT_SPRT,
        "rounds": 0,
        "sprt": pb.Sprt(elo1=10),
    }
    settings = plain | {key: value for key, value in changes.items() if key != "bots"}
    with pytest.raises(grpc.aio.AioRpcError, match=words) as caught:
        await server.tournament(*bots, **settings)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_it_says_whom_it_waits_for(server: ServerInTest) -> None:
    """A pair is planned though nobody can play it yet."""
    await server.bot("ada")
    bob = await server.bot("bob")
    bob.call.cancel()
    await server.away("bob")
    key = await create(server)
    (run,) = server.parts.scheduler.runs.values()
    await server.until(lambda: run.pending)
    assert (await get(server, key)).waiting_for == "bob is not connected"
    assert len(run.pending) == 2


async def test_a_watcher_is_told_where_the_test_stands(server: ServerInTest) -> None:
    """After every game, up to the one that decides."""
    peers = [await server.bot(name) for name in NAMES]
    key = await create(server)
    request = pb.WatchTournamentRequest(tournament_id=key)
    call = (await server.tournaments()).WatchTournament(request)
    tasks = [asyncio.create_task(work) for work in (play(peers[0]), lose(peers[1]))]
    async with asyncio.timeout(PATIENCE):
        facts = [fact async for fact in call]
    for task in tasks:
        task.cancel()
    standings = [fact.sprt for fact in facts if fact.HasField("sprt")]
    games = [standing.wins for standing in standings]
    assert games == sorted(games)  # two in a row may be told of at once
    assert games[-1] == 2 * PAIRS_NEEDED
    assert standings[-1].llr >= standings[-1].upper == -standings[-1].lower
    last = facts[-1].tournament
    assert last.sprt.estimate.los > 0.99
    assert standings[-2].HasField("estimate")
    assert not standings[-1].HasField("estimate")
    standings[-1].estimate.CopyFrom(last.sprt.estimate)
    assert (last.state, last.sprt) == (FINISHED, standings[-1])


def have_happened(events: list[object], count: int) -> bool:
    """Whether there are so many of them."""
    return len(events) >= count


# -- stopping and going on ----------------------------------------------------------


async def test_a_restarted_server_goes_on_with_the_test(
    start_server: StartServer, any_database_url: str
) -> None:
    """Whenever it stopped: the decision comes with the same pair, and no game is lost or doubled."""
    keys: list[str] = []
    for after in (1, 4, 5):
        async with start_server(database_url=any_database_url) as server:
            ended: list[object] = []
            server.listen(ended=ended.append)
            async with players(server, max_games=3):
                if not keys:
                    keys.append(await create(server))
                await server.until(partial(have_happened, ended, after))
    async with start_server(database_url=any_database_url) as server:
        async with players(server, max_games=3):
            await server.until_finished(keys[0])
        found = await get(server, keys[0])
        assert found.sprt.pairs[4] == PAIRS_NEEDED
        assert found.sprt.decision == pb.SPRT_DECISION_ELO1
    with Database(any_database_url) as database:
        rows = database.read(rows_of)
    assert_pairs(rows)
    played = Counter(row.number for row in rows if row.state is GameState.FINISHED)
    assert set(played.values()) == {1}
    numbers = {row.number for row in rows}
    assert numbers == set(range(1, max(numbers) + 1))


async def test_what_was_decided_is_decided_again(
    start_server: StartServer, any_database_url: str
) -> None:
    """A server that finds a decided match running ends it, and plays no game."""

    def forget(connection: Connection) -> None:
        values = {"state": TournamentState.RUNNING, "verdict": "", "end_time": None}
        connection.execute(update(Tournament).values(values))

    async with start_server(database_url=any_database_url) as server, players(server):
        key = await create(server)
        await server.until_finished(key)
    with Database(any_database_url) as database:
        database.write(forget)
    async with start_server(database_url=any_database_url) as server:
        bots = [await server.bot(name) for name in NAMES]
        await server.until_finished(key)
        found = await get(server, key)
        assert found.verdict.startswith("ada over bob: 100")
        assert found.finished_games == 2 * PAIRS_NEEDED
        assert not any(peer.unread("started") for peer in bots)


async def test_a_cancelled_match_is_taken_up_again(server: ServerInTest) -> None:
    """With the pairs that it has."""
    ended: list[object] = []
    server.listen(ended=ended.append)
    async with players(server, max_games=2):
        key = await create(server)
        await server.until(lambda: len(ended) >= 5)
        await server.cancel(key)
        before = await get(server, key)
        assert (before.state, before.running_games) == (CANCELLED, 0)
        assert before.sprt.wins >= 5
        await server.resume(key)
        await server.until_finished(key)
    after = await get(server, key)
    assert after.sprt.decision == pb.SPRT_DECISION_ELO1
    assert after.sprt.pairs[4] == PAIRS_NEEDED


async def test_a_decided_match_that_was_cancelled_ends_when_it_is_resumed(
    server: ServerInTest,
) -> None:
    """At once, for the reason that it would have ended."""
    async with players(server):
        key = await create(server)
        await server.until_finished(key)
        change = partial(
            set_state, tournament_id=TournamentId(int(key)), state=TournamentState.CANCELLED
        )
        await asyncio.to_thread(server.database.write, change)
        await server.resume(key)
        await server.until_finished(key)
    found = await get(server, key)
    assert found.finished_games == 2 * PAIRS_NEEDED
    assert found.verdict.startswith("ada over bob: 100")


async def test_a_void_game_of_a_pair_is_played_again(server: ServerInTest) -> None:
    """The pair counts once both of its games have a result."""
    ended: list[LiveGame] = []
    server.listen(ended=ended.append)
    peers = [await server.bot(name) for name in NAMES]
    key = await create(server)
    await peers[0].started()
    (game,) = server.running
    server.parts.games.void(game, Party.NETWORK, "a cable was cut")
    tasks = [asyncio.create_task(work) for work in (play(peers[0]), lose(peers[1]))]
    await server.until_finished(key)
    for task in tasks:
        task.cancel()
    numbers = Counter(game.pairing.number for game in ended)
    assert numbers[game.pairing.number] == 2
    assert (await get(server, key)).sprt.pairs[4] == PAIRS_NEEDED


async def test_a_decided_match_goes_on_when_a_game_is_voided(start_server: StartServer) -> None:
    """Its pairing is played again, and the test decides with what there is then."""
    async with start_server() as server:
        async with players(server):
            key = await create(server)
            await server.until_finished(key)
            request = game_service_pb2.VoidGameRequest(game_id="7", reason="the wrong engine")
            await (await server.games()).VoidGame(request)
            await server.until_finished(key)
        found = await get(server, key)
        assert (found.sprt.decision, found.sprt.pairs[4]) == (pb.SPRT_DECISION_ELO1, PAIRS_NEEDED)
        assert found.verdict.startswith("ada over bob: 100")
    with Database(server.settings.database) as database:
        rows = database.read(rows_of)
    assert_pairs(rows)
    states = Counter((row.number, row.state) for row in rows)
    assert states[7, GameState.VOID] == states[7, GameState.FINISHED] == 1


async def test_a_decided_match_goes_on_with_whole_pairs(start_server: StartServer) -> None:
    """The second game of the pair that it was decided in is played before any other pair."""
    async with start_server() as server:
        async with players(server):
            key = await create(server, test=WIDE | {"unit": pb.SPRT_UNIT_GAMES, "most_games": 20})
            await server.until_finished(key)
        assert (await get(server, key)).finished_games == 13
    async with start_server() as server:
        request = game_service_pb2.VoidGameRequest(game_id="7", reason="the wrong engine")
        await (await server.games()).VoidGame(request)
        async with players(server, loser="ada"):
            await server.until_finished(key)
        found = await get(server, key)
        assert found.verdict == "undecided after 20 games, the most there were to be"
        assert sum(found.sprt.pairs) == 10
    with Database(server.settings.database) as database:
        rows = database.read(rows_of)
    assert_pairs(rows)
    played = [row.number for row in rows if row.state is GameState.FINISHED]
    assert played == list(range(1, 21))
