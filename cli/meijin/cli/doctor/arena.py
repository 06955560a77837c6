"""The arena: a server with the bot that is examined, the examiner, and games between the two."""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc

from meijin.arena.local import explaining, local_server
from meijin.arena.tournaments import make_tournament
from meijin.cli.connection import PAGE, Connection, Server, connect
from meijin.cli.doctor.candidate import Candidate
from meijin.cli.doctor.check import CheckFailedError
from meijin.cli.doctor.examiner import MOST_PLIES, Examiner, ExaminerThread
from meijin.cli.doctor.link import Link
from meijin.cli.doctor.loop_thread import LoopThread
from meijin.cli.errors import CommandError
from meijin.game import TimeControl, Variant
from meijin.v1 import bot_service_pb2, game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import (
    Capabilities,
    capabilities_from_proto,
    time_control_to_proto,
    variant_to_proto,
)

EXAMINER = "examiner"
"""Its name on the server."""

GRACE = timedelta(seconds=15)
"""How long the bot may be away in one game; the usual server gives it longer."""

REPLY_TIMEOUT = timedelta(seconds=15)
"""What everything beside the bot's own clock may take in a game."""

POLL_INTERVAL = timedelta(milliseconds=25)
"""Between two looks at what the server knows."""


@dataclass(slots=True)
class Arena:
    """A server, the bot and the examiner on it."""

    name: str
    """The bot's."""
    address: str
    """Where the bot connects to: the link."""
    token: str
    """The bot's."""
    candidate: Candidate
    connection: Connection
    link: Link
    thread: LoopThread
    examiner: Examiner

    def start(self, limit: timedelta) -> float:
        """Start the bot, and return how many seconds it took to connect.

        Raises:
            CheckFailedError: it has not connected; the reason says why.
        """
        begun = time.monotonic()
        self.candidate.start(self.address, self.token)
        if not self.wait_until(lambda: self.is_connected, limit):
            fix = "connect to the address in MEIJIN_SERVER, with the token in MEIJIN_TOKEN"
            raise self.failure(f"it has not connected in {limit.total_seconds():g} s", fix)
        return time.monotonic() - begun

    @property
    def is_connected(self) -> bool:
        """Whether the bot's stream is open."""
        return self.bot().connected

    def check_process(self) -> None:
        """See that the bot's process has not ended.

        Raises:
            CheckFailedError: it has.
        """
        if ending := self.candidate.ending:
            lines = self.candidate.last_lines
            source = "its own words below" if lines else "a run by hand"
            fix = f"see why by {source}; a bot stays until it is told to leave"
            raise CheckFailedError(ending, fix, lines)

    def failure(self, reason: str, fix: str) -> CheckFailedError:
        """A failed check, with what the bot has said last."""
        return CheckFailedError(reason, fix, self.candidate.last_lines)

    def bot(self) -> bot_service_pb2.Bot:
        """What the server knows of the bot."""
        request = bot_service_pb2.ListBotsRequest()
        bots = self.connection.ask(self.connection.bots.ListBots, request).bots
        return next(bot for bot in bots if bot.name == self.name)

    @property
    def capabilities(self) -> Capabilities:
        """What the bot claims."""
        return capabilities_from_proto(self.bot().capabilities)

    def versions(self) -> Sequence[bot_service_pb2.BotVersion]:
        """The versions of the bot that have said hello."""
        request = bot_service_pb2.ListBotVersionsRequest(name=self.name)
        return self.connection.ask(self.connection.bots.ListBotVersions, request).versions

    def play(
        self,
        variant: Variant,
        control: TimeControl,
        *,
        games: int = 2,
        at_once: int = 1,
        examiner_first: bool = False,
    ) -> Sequence[game_pb2.Game]:
        """Play games of the bot against the examiner to their end, with alternating colours.

        Raises:
            CheckFailedError: they don't end, or the bot's process does.
        """
        tournament = self.begin(
            variant, control, games=games, at_once=at_once, examiner_first=examiner_first
        )
        return self.finish(tournament, -(-games // at_once) * _length(variant, control))

    def begin(
        self,
        variant: Variant,
        control: TimeControl,
        *,
        games: int,
        at_once: int = 1,
        examiner_first: bool = False,
    ) -> str:
        """Have games planned, and return the id of their tournament."""
        names = [self.name, EXAMINER]
        settings = pb.TournamentSettings(
            bots=reversed(names) if examiner_first else names,
            rounds=games,
            variant=variant_to_proto(variant),
            time_control=time_control_to_proto(control),
            seed=secrets.randbits(31),
            max_games=at_once,
            unrated=True,
        )
        return make_tournament(self.connection, settings).tournament_id

    def finish(self, tournament_id: str, limit: timedelta) -> Sequence[game_pb2.Game]:
        """Wait for the end of games, and return them in the order in which they began.

        Raises:
            CheckFailedError: they don't end, or the bot's process does.
        """
        tournaments = self.connection.tournaments
        request = pb.GetTournamentRequest(tournament_id=tournament_id)

        def is_finished() -> bool:
            found = self.connection.ask(tournaments.GetTournament, request).tournament
            return found.state == pb.TOURNAMENT_STATE_FINISHED

        try:
            if not self.wait_until(is_finished, limit):
                waiting = self.connection.ask(tournaments.GetTournament, request).tournament
                reason = waiting.waiting_for or "a game goes on and on"
                raise self.failure(
                    f"after {limit.total_seconds():.0f} s its games have not ended: {reason}",
                    "see that the bot stays connected, reads its stream, and answers each turn",
                )
        except CheckFailedError:
            self._cancel(tournament_id)
            raise
        wanted = game_service_pb2.ListGamesRequest(
            tournament_id=tournament_id,
            state=game_pb2.GAME_STATE_FINISHED,
            page_size=PAGE,
            with_moves=True,
        )
        return self.connection.ask(self.connection.games.ListGames, wanted).games[::-1]

    def wait_for_stream(self, accepted: int, limit: timedelta) -> bool:
        """Wait until the bot is connected by a later connection than so many."""
        return self.wait_until(lambda: self.link.accepted > accepted and self.is_connected, limit)

    def _cancel(self, tournament_id: str) -> None:
        request = pb.UpdateTournamentRequest(
            tournament_id=tournament_id, state=pb.TOURNAMENT_STATE_CANCELLED
        )
        with suppress(grpc.RpcError):  # it has finished meanwhile
            self.connection.ask(self.connection.tournaments.UpdateTournament, request)

    def wait_until(self, condition: Callable[[], bool], limit: timedelta) -> bool:
        """Wait for something, and return whether it came in time.

        Raises:
            CheckFailedError: the bot's process has ended.
        """
        deadline = time.monotonic() + limit.total_seconds()
        while not condition():
            self.check_process()
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_INTERVAL.total_seconds())
        return True


def _length(variant: Variant, control: TimeControl) -> timedelta:
    """The most that a game may last, with all that is not on the bot's clock."""
    moves = min(MOST_PLIES, variant.cells)
    if control.initial is None:
        assert control.per_move is not None
        return moves * control.per_move + GRACE + REPLY_TIMEOUT
    return control.initial + moves * control.increment + GRACE + REPLY_TIMEOUT


@contextmanager
def open_arena(candidate: Candidate, *, name: str, listen: str) -> Iterator[Arena]:
    """A server in a temporary folder with the examiner; the bot is not started yet.

    Everything is stopped on the way out, the bot too.

    Raises:
        CommandError: the server does not come up, or `listen` can't be listened on.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="meijin-doctor-")))
        address, server = stack.enter_context(
            local_server(
                folder,
                f"--redis=unix://{folder / 'none.sock'}",
                "--durability=process",
                f"--grace={GRACE.total_seconds():g}",
            )
        )
        connection = stack.enter_context(connect(Server(address), ""))
        stack.enter_context(explaining(server))
        thread = stack.enter_context(LoopThread())
        link = Link(address)
        try:
            public = thread.call(link.open(listen))
        except (OSError, ValueError) as error:
            raise CommandError(f"can't listen on {listen}: {error}") from None
        stack.callback(lambda: thread.call(link.close()))
        token, examiner_token = (register(connection, each) for each in (name, EXAMINER))
        examiner = Examiner()
        opponent = ExaminerThread(examiner, thread, server=address, token=examiner_token)
        stack.callback(opponent.stop)
        stack.callback(candidate.stop)
        yield Arena(name, public, token, candidate, connection, link, thread, examiner)


def register(connection: Connection, name: str) -> str:
    """Register a bot and return its token.

    Raises:
        CommandError: it can't be called so.
    """
    request = bot_service_pb2.RegisterBotRequest(name=name)
    try:
        return connection.ask_with_token(connection.bots.RegisterBot, request).token
    except grpc.RpcError as error:
        reason = error.details() if isinstance(error, grpc.Call) else error
        raise CommandError(f"can't register {name}: {reason}") from None
