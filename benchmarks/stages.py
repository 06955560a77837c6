"""What a move costs the server, stage by stage, without sockets.

    python benchmarks/stages.py [--games 1,16,256,1024] [--plies 60] [--repeat 5]
                                [--durability process] [--json]

A server's parts in this process: two bots, all of whose games stand at the same ply, answer every
turn in one message, and the other's turns are written into one. No game ends. The database is a
file in a temporary folder. Microseconds of processor time a move, of each ply's least run of all
repeats: what nobody else on the machine disturbs. What gRPC and the kernel take is not in it.

games      games at once: moves of one message
parse      bytes to the message of a bot
read       the message to commands
judge      commands to the games, by their arbiters
pack       moves to the journal's entry
commit     of the entry, from the event loop through the writer's thread and back; all threads
release    the committed moves to the other bot's outbox
drain      the outbox to a delivery, whose clocks start
build      the delivery to a message for that bot
serialize  the message to bytes
total      all of them
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

from report import Row, parser_of, report

from meijin.game import GOMOKU, TimeControl
from meijin.server.match.actions import ActionHandler
from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import Actions
from meijin.server.match.live.live_game import Contest, LiveGame
from meijin.server.match.live.session import Session
from meijin.server.match.wire import command_from_proto, delivery_to_proto
from meijin.server.parts import Parts
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.recovery import LastIds
from meijin.store import Database, Durability, Writer
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog, open_log
from meijin.store.schema import (
    ID_BYTES,
    BotId,
    BotVersionId,
    EntryId,
    Epoch,
    FormatName,
    GameId,
    PairingId,
    TournamentId,
)
from meijin.store.tournaments import PendingPairing, TournamentRow
from meijin.testing.settings import settings_in
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import Capabilities

STAGES = (
    "parse",
    "read",
    "judge",
    "pack",
    "commit",
    "release",
    "drain",
    "build",
    "serialize",
)

ORDERS = 16
"""Different orders of play, so that games differ."""

MINUTE = TimeControl(per_move=timedelta(seconds=60))


class Collector(Journal):
    """Takes moves as they are judged, and packs none."""

    def __init__(self, writer: Writer, parts: Parts, database: Database) -> None:
        super().__init__(
            writer, database.fence, parts.store_watch, last_entry=EntryId(0), last_end=0
        )
        self.judged: list[tuple[LiveGame, int, int]] = []
        """Of the last message."""

    def add_moves(self, moves: Iterable[tuple[LiveGame, int, int]]) -> None:
        """Have them judged."""
        self.judged = list(moves)


def drawn_order(rng: Random) -> list[int]:
    """All cells of the usual board in an order of play that makes no five."""
    cells = range(GOMOKU.cells)
    of_black = [cell for cell in cells if (cell % 15 // 2 + cell // 15) % 2]
    of_white = [cell for cell in cells if not (cell % 15 // 2 + cell // 15) % 2]
    rng.shuffle(of_black)
    rng.shuffle(of_white)
    return [cell for pair in zip(of_black, of_white, strict=False) for cell in pair]


class Arena:
    """A server's parts, and two bots with games against each other."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        settings: Settings,
        *,
        last: int,
        move_log: MoveLog | None,
    ) -> None:
        ids = LastIds(GameId(1_000_000), 0, EntryId(last))
        self.parts = Parts(
            settings,
            writer,
            database.fence,
            Storage(database, writer),
            redis_url="unix:///none",
            last=ids,
            move_log=move_log,
        )
        collector = Collector(writer, self.parts, database)
        self._collector = collector
        self._actions = ActionHandler(self.parts.games, collector, self.parts.watch)
        self._batches: list[Batch] = []
        self._sessions: list[Session] = []

    def seat(self, games: int) -> None:
        """Start games between two bots whose round trip is known, and ask for the first moves."""
        parts = self.parts
        players = [parts.lobby.player(BotId(key), f"bot-{key}") for key in (1, 2)]
        black, white = players
        contest = Contest(
            TournamentRow(
                id=TournamentId(1),
                format=FormatName("round-robin"),
                variant=GOMOKU,
                time_control=MINUTE,
                create_time=datetime.now(UTC),
            )
        )
        for key in range(1, games + 1):
            game = parts.games.new_live_game(
                contest,
                PendingPairing(PairingId(key), key, black.bot_id, white.bot_id, b""),
                game_id=GameId(1_000_000 + key),
                players=(black, white),
                versions=(BotVersionId(1), BotVersionId(2)),
                start_time=datetime.now(UTC),
            )
            parts.games.restore(game, [])
        for key, player in enumerate(players, 1):
            session = parts.lobby.join(player, BotVersionId(key), Capabilities(max_games=games))
            self._actions.receive_pong(session, session.drain(parts.watch.moment()).ping)
            self._sessions.append(session)

    @asynccontextmanager
    async def committing(self) -> AsyncIterator[None]:
        """Have the journal run beside the block."""
        parts = self.parts
        works = parts.journal.tasks(self._batches.append, parts.games.running.values())
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(work) for work in works]
            yield
            for task in running:
                task.cancel()
        parts.journal.close()

    async def play(self, ply: int, cells: Sequence[int]) -> list[int]:
        """Take a bot's answers in all games, and tell the other: nanoseconds of each stage."""
        session, other = self._sessions[ply % 2], self._sessions[1 - ply % 2]
        parts, moment = self.parts, self.parts.watch.moment
        data = answers(session, ply, cells)
        most = len(session.games) + session.spare_actions
        clock = time.thread_time_ns
        marks = [clock()]
        request = pb.PlayRequest.FromString(data)
        marks.append(clock())
        command = command_from_proto(request, most)
        marks.append(clock())
        assert isinstance(command, Actions)
        self._actions.judge(session, command, self._actions.hear(session, command))
        marks.append(clock())
        parts.journal.add_moves(self._collector.judged)
        marks.append(clock())
        commit_ns = await self._commit()
        marks.append(clock())
        parts.games.release(self._batches.pop())
        marks.append(clock())
        delivery = other.drain(moment())
        marks.append(clock())
        messages = delivery_to_proto(delivery, other.player)
        marks.append(clock())
        for message in messages:
            message.SerializeToString()
        marks.append(clock())
        spent = [after - before for before, after in pairwise(marks)]
        spent[STAGES.index("commit")] = commit_ns
        return spent

    async def _commit(self) -> int:
        """Have the entry committed: the nanoseconds of all threads.

        Raises:
            RuntimeError: a game has not gone on, so that the stages are of fewer moves.
        """
        moves, games = len(self._collector.judged), len(self.parts.games.running)
        if not games or moves < games:
            raise RuntimeError(f"{moves} moves went on in {games} running games")
        before = time.process_time_ns()
        await self.parts.journal.drained()
        return time.process_time_ns() - before


def answers(session: Session, ply: int, cells: Sequence[int]) -> bytes:
    """A bot's message with a move in each of its games."""
    message = pb.PlayRequest()
    for number, cell in zip(session.games, cells, strict=True):
        message.actions.plays.add(game=number, ply=ply, cell=cell)
    return message.SerializeToString()


@contextmanager
def open_store(durability: Durability) -> Iterator[tuple[Database, Writer, Settings]]:
    """An empty database in a temporary folder, and its writer."""
    with tempfile.TemporaryDirectory() as name:
        settings = settings_in(Path(name), durability=durability)
        with Database(f"sqlite:///{name}/meijin.db", durability) as database:
            database.migrate()
            writer = Writer(database)
            yield database, writer, settings
            writer.close()


def _empty_log(database: Database) -> MoveLog:
    move_log = open_log(database)
    assert move_log is not None
    move_log.begin(LogEntry(FIRST_ENTRY, b"", {}), database_id=bytes(ID_BYTES), epoch=Epoch(1))
    return move_log


async def run(arena: Arena, games: int, plies: int) -> list[list[int]]:
    """Play games to some ply: nanoseconds of each ply and stage."""
    arena.seat(games)
    rng = Random(0)
    orders = [drawn_order(rng) for _ in range(ORDERS)]
    async with arena.committing():
        return [
            await arena.play(ply, [orders[game % ORDERS][ply] for game in range(games)])
            for ply in range(plies)
        ]


def measure(games: int, plies: int, repeat: int, durability: Durability) -> Row:
    """One row: of each ply's stages the least of all repeats, the clock's own time left out."""
    runs = []
    with open_store(durability) as (database, writer, settings):
        for number in range(repeat):

            async def once(last: int = number * plies) -> list[list[int]]:
                with closing(_empty_log(database)) as move_log:
                    arena = Arena(database, writer, settings, last=last, move_log=move_log)
                    return await run(arena, games, plies)

            runs.append(asyncio.run(once()))
    tick = min(clock_ns() for _ in range(1000))
    least = [
        [max(min(times) - tick, 0) for times in zip(*stages, strict=True)]
        for stages in zip(*runs, strict=True)
    ]
    moves = games * plies
    us = [sum(times) / moves / 1000 for times in zip(*least, strict=True)]
    return {
        "games": games,
        **{stage: round(each, 3) for stage, each in zip(STAGES, us, strict=True)},
        "total": round(sum(us), 3),
    }


def clock_ns() -> int:
    """What looking at the clock takes of a stage."""
    before = time.thread_time_ns()
    return time.thread_time_ns() - before


def main() -> None:
    """Measure each number of games."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", default="1,16,256,1024")
    parser.add_argument("--plies", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--durability", type=Durability, default=Durability.PROCESS)
    options = parser.parse_args()
    rows = [
        measure(int(games), options.plies, options.repeat, options.durability)
        for games in options.games.split(",")
    ]
    report("Processor time of a move by stage, microseconds", rows, as_json=options.json)


if __name__ == "__main__":
    main()
