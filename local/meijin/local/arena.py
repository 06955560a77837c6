"""Arena: a server to play matches on, one of its own or another's."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias, Unpack

import grpc

from meijin.bots import Bot, Chooser, load_bot
from meijin.bots.sdk.bot import as_bot
from meijin.bots.sdk.runner import BotThread
from meijin.local.bots import local_bots, told_apart
from meijin.local.child import Child, Tell
from meijin.local.connection import Connection, Server, connect
from meijin.local.errors import ArenaError
from meijin.local.first_fault import first_faults
from meijin.local.match_play import (
    Players,
    finished_games,
    play,
    wait_for_threads,
)
from meijin.local.match_result import MatchResult, result_of
from meijin.local.match_settings import MatchOptions, MatchSettings
from meijin.local.server import explaining, local_server, playing, without_ladder
from meijin.local.sides import Side, set_own_clocks
from meijin.local.worker import games_at_once
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.channel import Security
from meijin.wire.values import variant_from_proto

Player: TypeAlias = "Bot | Chooser | str | Path | Sequence[str]"
"""A bot, or a function that is one, which plays in this process; what `meijin play` takes, as one
text or as its words, or a Python file, which plays in a process of its own; or, on another's server,
the name of a bot that is connected there."""

_Known: TypeAlias = Bot | Side | str
"""A player, read: of another's server a bot that is connected there is its name."""


@dataclass(frozen=True, slots=True)
class _Place:
    connection: Connection
    address: str
    folder: Path | None
    """For the logs of bots; ``None`` on another's server."""
    process: Child | None
    """The server; ``None`` for another's."""


class Arena:
    """A server to play matches on, for as long as a ``with`` block lasts.

    Without `server` it is one of the arena's own: a process on this machine, which ends with the
    block. Enter the block in the main thread, since processes also end with the thread that has
    started them.
    """

    def __init__(
        self,
        server: str | None = None,
        *,
        token: str | None = None,
        bot_tokens: Mapping[str, str] | None = None,
        security: Security | None = None,
        data: Path | str | None = None,
        tell: Tell = print,
    ) -> None:
        """Choose the server; the block starts it, or connects to it.

        Args:
            server: Another's, such as ``host:port`` or ``grpcs://host:port``.
            token: An operator's or owner's, where that server asks for one; else that
                of MEIJIN_OPERATOR_TOKEN.
            bot_tokens: Of bots that play on it from this process, by their names.
            security: Whom to trust; else MEIJIN_CA and its like.
            data: A folder that keeps the games and logs of the arena's own server; the folder is
                a temporary one when left out.
            tell: Takes a line of what people may want to know, such as why a bot starts slowly.
        """
        if server is not None and data is not None:
            raise ValueError("data goes with a server of the arena's own: leave server out")
        self._server = server
        self._token = token
        self._bot_tokens = dict(bot_tokens or {})
        self._security = security or (Security() if server is None else Security.from_environment())
        self._data = None if data is None else Path(data)
        self._tell = tell
        self._stack = ExitStack()
        self._place: _Place | None = None

    def __enter__(self) -> Self:
        with _in_words():
            self._place = self._stack.enter_context(self._opened())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._place = None
        self._stack.__exit__(kind, error, traceback)

    @contextmanager
    def _opened(self) -> Iterator[_Place]:
        if self._server is not None:
            with connect(Server(self._server, self._security), self._token) as connection:
                yield _Place(connection, self._server, None, None)
            return
        with (
            _folder(self._data) as folder,
            local_server(folder, *without_ladder(folder)) as (address, process),
            connect(Server(address), "") as connection,
        ):
            yield _Place(connection, address, folder, process)

    def play_match(
        self, first: Player, second: Player, **settings: Unpack[MatchOptions]
    ) -> MatchResult:
        """Play a match to its end.

        Args:
            first: The bot from whose side the result is told.
            second: The other one.
            settings: The fields of `MatchSettings`: games, time, variant, openings and others.

        Raises:
            ArenaError: the match can't be played to its end; the message says why.
            ValueError: a setting can't be what it should be.
            BotLoadError: there is no such bot.
        """
        place = self._place
        if place is None:
            raise ArenaError("the arena isn't open: play within `with Arena() as arena:`")
        wanted = MatchSettings(**settings).tournament()
        read = _side_here if self._server is None else _bot_there
        players = [
            read(each) if isinstance(each, str | Path | Sequence) else as_bot(each)
            for each in (first, second)
        ]
        names = _names(players)
        wanted.name, wanted.bots[:] = " - ".join(names), names
        set_own_clocks(wanted, [each if isinstance(each, Side) else None for each in players])
        given = dict(zip(names, players, strict=True))
        process = place.process
        with _in_words(), nullcontext() if process is None else explaining(process):
            with self._playing(place, given, wanted) as running:
                response = play(place.connection, wanted, running)
            games = finished_games(place.connection, response.tournament.tournament_id)
            return result_of(response, games, first_faults(place.connection, games))

    @contextmanager
    def _playing(
        self, place: _Place, given: Mapping[str, _Known], wanted: pb.TournamentSettings
    ) -> Iterator[Players]:
        """What plays one match: a worker, or bots that are connected where one is of this process."""
        bots = {name: player for name, player in given.items() if isinstance(player, Bot)}
        sides = {name: each for name, each in given.items() if isinstance(each, Side)}
        players = Players()
        variant = variant_from_proto(wanted.variant)
        with ExitStack() as stack:
            if place.folder is not None and not bots:
                games, wanted.max_games = games_at_once(wanted, sides.values()), 0
                worker = playing(
                    place.connection,
                    place.address,
                    sides,
                    place.folder,
                    self._tell,
                    games=games,
                    variant=variant,
                )
                stack.enter_context(worker)
            elif place.folder is not None:
                commands = {
                    name: side.connecting(name, place.address, variant)
                    for name, side in sides.items()
                }
                started = local_bots(
                    place.connection, commands, folder=place.folder, tell=self._tell
                )
                players.children = stack.enter_context(started)
            for name, bot in bots.items():
                token = self._bot_tokens.get(name, "")
                thread = BotThread(
                    bot, server=place.address, name=name, token=token, security=self._security
                )
                thread.start()
                stack.callback(thread.stop)
                players.threads.append(thread)
            wait_for_threads(place.connection, players, self._tell)
            yield players


def play_match(
    first: Player,
    second: Player,
    *,
    server: str | None = None,
    token: str | None = None,
    tell: Tell = print,
    **settings: Unpack[MatchOptions],
) -> MatchResult:
    """Play one match in an arena that is there for it alone; see `Arena.play_match`."""
    with Arena(server, token=token, tell=tell) as arena:
        return arena.play_match(first, second, **settings)


def _side_here(player: str | Path | Sequence[str]) -> Side:
    """A player that is run in a process of its own."""
    words = [str(player)] if isinstance(player, Path) else player
    return Side.parse(words if isinstance(words, str) else shlex.join(words))


def _bot_there(player: str | Path | Sequence[str]) -> Bot | str:
    """A player on another's server: a bot that is connected there, or one of a file."""
    if isinstance(player, Path):
        return load_bot(str(player))
    if isinstance(player, str):
        return player
    raise ValueError("on another's server a player is a bot's name, a file or a function")


def _names(players: Sequence[_Known]) -> list[str]:
    """What they are called, told apart unless they are others' bots."""
    known: list[tuple[str, Sequence[str]]] = []
    for player in players:
        if isinstance(player, str):
            known.append((player, ()))
        elif isinstance(player, Bot):
            options = [f"{name}={value}" for name, value in player.configuration.items()]
            known.append((player.name, options))
        else:
            known.append((player.own_name, player.settings))
    return told_apart(known) if str not in map(type, players) else [name for name, _ in known]


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    """The folder of games and logs; a temporary one is left where it is after an error."""
    if data is not None:
        yield data
        return
    folder = Path(tempfile.mkdtemp(prefix="meijin-"))
    is_needed = False
    try:
        yield folder
    except ArenaError:
        is_needed = True
        raise
    finally:
        if not is_needed:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _in_words() -> Iterator[None]:
    """Turn what gRPC says of a call that fails into an error with the server's words."""
    try:
        yield
    except grpc.RpcError as error:
        words = error.details() if isinstance(error, grpc.Call) else str(error)
        raise ArenaError(words or "the server doesn't answer") from error
