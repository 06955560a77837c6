"""Where a bot is examined: a server, the bot, the examiner, and games between the two."""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.bots import Bot, Security
from meijin.bots.sdk.runner import BotThread
from meijin.game import TimeControl, Variant
from meijin.local.connection import (
    Connection,
    Server,
    connect,
    get_tournament,
    list_bots,
    make_tournament,
    set_state,
)
from meijin.local.doctor.candidate import Candidate
from meijin.local.doctor.check import CheckFailedError
from meijin.local.doctor.examiner import MOST_PLIES, Examiner
from meijin.local.doctor.link import Link
from meijin.local.errors import ArenaError
from meijin.local.match_play import finished_games
from meijin.local.server import explaining, local_server, without_ladder
from meijin.v1 import bot_service_pb2, game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.capabilities import Capabilities, capabilities_from_proto
from meijin.wire.values import time_control_to_proto, variant_to_proto

EXAMINER = "examiner"
"""Its name on the server."""
GRACE = timedelta(seconds=15)
"""How long the bot may be away in one game; the usual server gives it longer."""
REPLY_TIMEOUT = timedelta(seconds=15)
"""What everything beside the bot's own clock may take in a game."""
POLL_INTERVAL = timedelta(milliseconds=25)
"""Between two looks at what the server knows."""


@dataclass(frozen=True, slots=True)
class ExamGames:
    """Games of the bot against one opponent, with alternating colours."""

    variant: Variant
    control: TimeControl
    count: int = 2
    at_once: int = 1
    opponent_first: bool = False
    opponent: str = EXAMINER
    most_plies: int = MOST_PLIES
    """The stones on the board with which the opponent resigns, or which fill it."""

    @property
    def limit(self) -> timedelta:
        """The most that they may last, with all that is not on the bot's clock."""
        moves = min(self.most_plies, self.variant.cells)
        if self.control.initial is None:
            assert self.control.per_move is not None
            clock = moves * self.control.per_move
        else:
            clock = self.control.initial + moves * self.control.increment
        return -(-self.count // self.at_once) * (clock + GRACE + REPLY_TIMEOUT)


@dataclass(slots=True)
class DoctorArena:
    """A server, the bot and the examiner on it."""

    name: str
    """The bot's."""
    token: str
    """The bot's."""
    folder: Path
    candidate: Candidate
    connection: Connection
    link: Link
    """Where the bot connects to."""
    examiner: Examiner

    def start(self, limit: timedelta, fix: str) -> float:
        """Start the bot, and return how many seconds it took to connect.

        Args:
            fix: What to do about a bot that does not connect within the limit.

        Raises:
            CheckFailedError: it has not connected; the reason says why.
        """
        begun = time.monotonic()
        self.candidate.start(self.link.address, self.token, self.folder / f"{self.name}.log")
        if not self.wait_until(lambda: self.bot().connected, limit):
            raise self.failure(f"it has not connected in {limit.total_seconds():g} s", fix)
        return time.monotonic() - begun

    def failure(self, reason: str, fix: str) -> CheckFailedError:
        """A failed check, with what the bot has said last."""
        return CheckFailedError(reason, fix, self.candidate.last_lines)

    def bot(self) -> bot_service_pb2.Bot:
        return next(bot for bot in list_bots(self.connection) if bot.name == self.name)

    @property
    def capabilities(self) -> Capabilities:
        return capabilities_from_proto(self.bot().capabilities)

    def versions(self) -> Sequence[bot_service_pb2.BotVersion]:
        request = bot_service_pb2.ListBotVersionsRequest(name=self.name)
        return self.connection.ask(self.connection.bots.ListBotVersions, request).versions

    def begin(self, planned: ExamGames) -> str:
        """Have games planned, and return the id of their tournament."""
        names = [self.name, planned.opponent]
        settings = pb.TournamentSettings(
            bots=reversed(names) if planned.opponent_first else names,
            rounds=planned.count,
            variant=variant_to_proto(planned.variant),
            time_control=time_control_to_proto(planned.control),
            seed=secrets.randbits(31),
            max_games=planned.at_once,
            unrated=True,
        )
        return make_tournament(self.connection, settings).tournament_id

    def finish(self, tournament_id: str, limit: timedelta) -> Sequence[game_pb2.Game]:
        """Wait for the end of games, and return them in the order in which they began.

        Raises:
            CheckFailedError: they don't end, or the bot's process does.
        """

        def found() -> pb.Tournament:
            return get_tournament(self.connection, tournament_id).tournament

        try:
            if not self.wait_until(lambda: found().state == pb.TOURNAMENT_STATE_FINISHED, limit):
                reason = found().waiting_for or "a game goes on and on"
                raise self.failure(
                    f"after {limit.total_seconds():.0f} s its games have not ended: {reason}",
                    "see that the bot stays connected, reads its stream, and answers each turn",
                )
        except CheckFailedError:
            with suppress(grpc.RpcError):  # it has finished meanwhile
                set_state(self.connection, tournament_id, pb.TOURNAMENT_STATE_CANCELLED)
            raise
        return finished_games(self.connection, tournament_id)

    def wait_until(self, condition: Callable[[], bool], limit: timedelta) -> bool:
        """Wait for something, and return whether it came in time.

        Raises:
            CheckFailedError: the bot's process has ended.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not condition():
            if ending := self.candidate.ending:
                lines = self.candidate.last_lines
                source = "its own words below" if lines else "a run by hand"
                fix = f"see why by {source}; a bot stays until it is told to leave"
                raise CheckFailedError(ending, fix, lines)
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_INTERVAL.total_seconds())
        return True


@contextmanager
def open_arena(candidate: Candidate, *, name: str, listen: str) -> Iterator[DoctorArena]:
    """A server in a temporary folder with the examiner; the bot is not started yet.

    Everything is stopped on the way out, the bot too.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="meijin-doctor-")))
        options = (*without_ladder(folder), f"--grace={GRACE.total_seconds():g}")
        address, server = stack.enter_context(local_server(folder, *options))
        connection = stack.enter_context(connect(Server(address), ""))
        stack.enter_context(explaining(server))
        try:
            link = Link(listen, address)
        except (OSError, ValueError) as error:
            raise ArenaError(f"can't listen on {listen}: {error}") from None
        stack.callback(link.close)
        token, examiner = register(connection, name), Examiner()
        stack.enter_context(connected_bot(connection, examiner, EXAMINER))
        stack.callback(candidate.stop)
        yield DoctorArena(name, token, folder, candidate, connection, link, examiner)


@contextmanager
def connected_bot(connection: Connection, bot: Bot, name: str) -> Iterator[None]:
    """Have a bot play in a thread of this process."""
    thread = BotThread(
        bot,
        server=connection.server.address,
        name=name,
        token=register(connection, name),
        security=Security(),
    )
    thread.start()
    try:
        yield
    finally:
        thread.stop()


def register(connection: Connection, name: str) -> str:
    """Register a bot and return its token."""
    request = bot_service_pb2.RegisterBotRequest(name=name)
    try:
        return connection.ask_with_token(connection.bots.RegisterBot, request).token
    except grpc.RpcError as error:
        reason = error.details() if isinstance(error, grpc.Call) else error
        raise ArenaError(f"can't register {name}: {reason}") from None
