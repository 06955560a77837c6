"""Seeking: a bot that plays challenges others now and then, by its owner's token."""

import logging
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Annotated

import grpc

from meijin.cli.command import option
from meijin.cli.errors import CommandError, explain
from meijin.cli.options import DEFAULT_VARIANT, board_of, control_proto
from meijin.cli.profile import Profile, read_profile
from meijin.game import FREE
from meijin.game.clock import parse_duration
from meijin.local.connection import Connection, Server, connect, list_bots
from meijin.local.errors import ArenaError
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1.tournament_service_pb2 import TOURNAMENT_STATE_RUNNING
from meijin.wire.contract import OPERATOR_TOKEN_VARIABLE
from meijin.wire.values import variant_to_proto

GAMES = 2
"""Of a challenge, one with each colour."""
LEAST_INTERVAL = timedelta(minutes=1)
MEMORY = 200
"""Challenges of the server, the newest, by which a bot knows whom it has met."""
TRIES = 3
"""Bots that are asked in a row, where one refuses."""
FAREWELL_TIMEOUT = timedelta(seconds=5)
"""What the server may take to have a challenge taken back at the end."""

REFUSALS = (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION)
"""Of a bot that accepts nothing, has left, or can't play this: another may."""

logger = logging.getLogger("meijin.bots")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is sought."""

    settings: pb.ChallengeSettings
    time: str
    """The clocks, as they were written."""
    every: timedelta
    """From one challenge to the next."""
    least: float = float("-inf")
    """The lowest rating of an opponent."""
    most: float = float("inf")

    @property
    def are_rated(self) -> bool:
        """Whether bots without a rating are left out."""
        return (self.least, self.most) != (float("-inf"), float("inf"))


@dataclass(frozen=True, slots=True)
class SeekOptions:
    """What a bot is told to seek."""

    seek: Annotated[
        str | None,
        option("Challenge connected bots now and then, with this clock.", metavar="TIME"),
    ] = None
    every: Annotated[
        str, option("With --seek: from one challenge to the next; 1m at least.", metavar="TIME")
    ] = "10m"
    opponents: Annotated[
        str, option("With --seek: whose rating is in a range.", metavar="1400..1700")
    ] = ""
    variant: Annotated[str, option('With --seek: what is played, such as "renju 15x15".')] = (
        DEFAULT_VARIANT
    )

    def wishes(self) -> Wishes | None:
        """What they come to; ``None`` without ``--seek``."""
        if self.seek is None:
            if self != NO_SEEK:
                raise CommandError("--every, --opponents and --variant are of --seek; give it too")
            return None
        try:
            every = parse_duration(self.every)
        except ValueError as error:
            raise CommandError(f"--every: {error}") from None
        if every < LEAST_INTERVAL:
            raise CommandError(f"--every {self.every} is less than a minute")
        settings = pb.ChallengeSettings(
            games=GAMES,
            variant=variant_to_proto(board_of(self.variant, FREE.name)),
            time_control=control_proto(self.seek),
            colors=pb.CHALLENGE_COLORS_ALTERNATE,
            server_openings=True,
        )
        return Wishes(settings, self.seek, every, *rating_range(self.opponents))


NO_SEEK = SeekOptions()


def rating_range(text: str) -> tuple[float, float]:
    """The least and the greatest of ``1400..1700``, ``1400..`` or ``..1700``; all of nothing."""
    least, dots, most = text.partition("..")
    try:
        found = float(least or "-inf"), float(most or "inf")
    except ValueError:
        dots = ""
    if text and (not dots or not found[0] <= found[1]):
        raise CommandError(f'--opponents: "{text}" is no range of ratings; write it as 1400..1700')
    return found


def owners_token(profile: Profile) -> str | None:
    """The token of who owns a bot, which alone may challenge; a bot's own does not."""
    said = os.environ.get(OPERATOR_TOKEN_VARIABLE)
    return replace(profile, token=said).over(read_profile()).token


def candidates(
    bots: Iterable[bot_pb.Bot], past: Sequence[pb.Challenge], name: str, wishes: Wishes
) -> list[bot_pb.Bot]:
    """Whom a bot may challenge, first whom it has never met, then whom it met longest ago.

    Args:
        bots: Those that are connected.
        past: Challenges, newest first.
        name: Who challenges.
        wishes: Whom it looks for.
    """
    met: dict[str, int] = {}
    for age, each in enumerate(past):
        if name in {each.challenger, each.opponent}:
            for player in (each.challenger, each.opponent):
                met.setdefault(player, age)
    found = [
        each
        for each in bots
        if each.name != name
        and not (each.is_person or each.paused)
        and each.challenges != bot_pb.CHALLENGE_POLICY_NONE
        and (each.HasField("rating") or not wishes.are_rated)
        and wishes.least <= each.rating <= wishes.most
    ]
    random.shuffle(found)
    return sorted(found, key=lambda each: met.get(each.name, len(past)), reverse=True)


@dataclass(slots=True)
class Seeker:
    """Challenges one bot after another in a bot's name."""

    name: str
    wishes: Wishes
    _challenge: str = field(default="", init=False)
    """The one that was made last."""
    _waiting: str = field(default="", init=False)
    """The one that waited for somebody when it was looked at last."""

    def seek(self, connection: Connection) -> str:
        """Challenge somebody, unless a challenge of its own goes on, and say what was done.

        One that waits for a bot a second time is taken back.

        Raises:
            grpc.RpcError: the server refuses, such as for the owner's budget, or is away.
        """
        request = pb.ListChallengesRequest(page_size=MEMORY)
        past = connection.ask(connection.challenges.ListChallenges, request).challenges
        for each in past:
            if each.challenger == self.name and each.state == TOURNAMENT_STATE_RUNNING:
                key, reason = each.challenge_id, each.waiting_for
                if not reason or key != self._waiting:
                    self._waiting = key if reason else ""
                    return f"challenge {key} goes on" + (f": {reason}" if reason else "")
                _cancel(connection, key)
        bots = list_bots(connection, connected=True)
        refusal = ""
        for opponent in candidates(bots, past, self.name, self.wishes)[:TRIES]:
            try:
                return self._challenged(connection, opponent)
            except grpc.RpcError as error:
                if not isinstance(error, grpc.Call) or error.code() not in REFUSALS:
                    raise
                refusal = f": {error.details()}"
        return f"nobody to challenge among {len(bots) - 1} others{refusal}"

    def take_back(self, connection: Connection) -> None:
        """Take the last challenge back, as its bot leaves."""
        if self._challenge:
            with suppress(grpc.RpcError):  # it is over
                _cancel(connection, self._challenge)

    def _challenged(self, connection: Connection, opponent: bot_pb.Bot) -> str:
        request = pb.CreateChallengeRequest(
            opponent=opponent.name, challenger=self.name, settings=self.wishes.settings
        )
        create = connection.challenges.CreateChallenge
        self._challenge = connection.ask_with_token(create, request).challenge.challenge_id
        rated = f" ({opponent.rating:.0f})" if opponent.HasField("rating") else ""
        games = f"{GAMES} games of {self.wishes.time}"
        return f"challenge {self._challenge}: {games} with {opponent.name}{rated}"


def _cancel(connection: Connection, key: str) -> None:
    cancel = connection.challenges.CancelChallenge
    connection.ask_with_token(cancel, pb.CancelChallengeRequest(challenge_id=key))
    logger.info("challenge %s is taken back", key)


@contextmanager
def seeker(server: Server, token: str | None, wishes: Wishes) -> Iterator[Callable[[str], None]]:
    """Have a bot seek until the end; what is yielded is called with its name once it is let in."""
    is_over = threading.Event()
    threads: list[threading.Thread] = []

    def go_on(name: str) -> None:
        seeking, said = Seeker(name, wishes), ""
        while not is_over.is_set():
            if (now := _told(server, token, seeking.seek)) != said:
                logger.info("%s", now)
            said = now
            is_over.wait(wishes.every.total_seconds())
        _told(server, token, seeking.take_back)

    def entered(name: str) -> None:
        if not threads:
            threads.append(threading.Thread(target=go_on, args=(name,), daemon=True))
            threads[0].start()

    try:
        yield entered
    finally:
        is_over.set()
        for thread in threads:
            thread.join(FAREWELL_TIMEOUT.total_seconds())


def _told(server: Server, token: str | None, act: Callable[[Connection], str | None]) -> str:
    """What was done, or why it was not: a server that is away returns, and a budget has room."""
    try:
        with connect(server, token) as connection:
            return act(connection) or ""
    except ArenaError as error:
        return f"no challenge: {error}"
    except grpc.RpcError as error:
        return f"no challenge: {explain(error)}"
