"""A match on a server: made, watched to its end, and its games fetched."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import grpc

from meijin.bots.sdk.runner import BotThread
from meijin.local.bots import NOTICE_INTERVAL
from meijin.local.child import Child, Tell
from meijin.local.connection import (
    Connection,
    get_tournament,
    list_bots,
    make_tournament,
    read_list,
    set_state,
)
from meijin.local.errors import ArenaError, BotLostError
from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.capabilities import Capabilities, capabilities_from_proto
from meijin.wire.values import time_control_from_proto, variant_from_proto

FIRST_INTERVAL, LAST_INTERVAL = timedelta(milliseconds=20), timedelta(milliseconds=250)
"""Between two looks at a match: often at first, since short ones end soon."""
WAIT = timedelta(minutes=1)
"""For a bot that is away from another's server; then its match is cancelled."""


@dataclass(slots=True)
class Players:
    """The bots of a match that were started for it."""

    threads: list[BotThread] = field(default_factory=list)
    children: Mapping[str, Child] = field(default_factory=dict)

    def check(self) -> None:
        """Raise a `BotLostError` if one of them has ended."""
        for thread in self.threads:
            if thread.error is not None:
                raise BotLostError(f"{thread.name} ended: {thread.error}") from thread.error
        for name, child in self.children.items():
            if child.process.poll() is not None:
                raise BotLostError(f"{name} ended, {child.end}; see {child.log}")


def _until(is_done: Callable[[], bool]) -> None:
    """Look again and again, less often as time goes by."""
    interval = FIRST_INTERVAL
    while not is_done():
        time.sleep(interval.total_seconds())
        interval = min(interval * 1.2, LAST_INTERVAL)


def wait_for_threads(connection: Connection, players: Players, tell: Tell) -> None:
    """Return when the bots of this process are connected, however long they get ready."""
    names = {thread.name for thread in players.threads}
    notice_time = time.monotonic() + NOTICE_INTERVAL.total_seconds()

    def are_there() -> bool:
        nonlocal notice_time
        players.check()
        away = names - {bot.name for bot in list_bots(connection, connected=True)}
        if away and time.monotonic() > notice_time:
            notice_time = math.inf
            tell(f"not ready yet: {', '.join(sorted(away))}; a search is compiled once")
        return not away

    _until(are_there)


def check_capabilities(connection: Connection, wanted: pb.TournamentSettings) -> None:
    """Raise an `ArenaError` if a bot that is connected can't play what is wanted."""
    for bot in list_bots(connection, connected=True):
        if bot.name in wanted.bots:
            said = capabilities_from_proto(bot.capabilities)
            check_player(bot.name, said.as_hosted() if bot.hosted else said, wanted)


def check_player(name: str, capabilities: Capabilities, wanted: pb.TournamentSettings) -> None:
    """Raise an `ArenaError` if a bot can't play what is wanted."""
    variant = variant_from_proto(wanted.variant)
    objection = capabilities.objection(variant, time_control_from_proto(wanted.time_control))
    if objection is not None:
        raise ArenaError(f"{name} {objection}")


def play(
    connection: Connection, wanted: pb.TournamentSettings, players: Players
) -> pb.GetTournamentResponse:
    """Play a tournament to its end; where that is broken off, it is cancelled."""
    check_capabilities(connection, wanted)
    key = make_tournament(connection, wanted).tournament_id
    try:
        _follow(connection, key, players)
    except BaseException:
        with suppress(grpc.RpcError):
            set_state(connection, key, pb.TOURNAMENT_STATE_CANCELLED)
        raise
    return get_tournament(connection, key, with_match_report=True)


def _follow(connection: Connection, key: str, players: Players) -> None:
    """Return when a tournament has ended."""
    waiting_since = time.monotonic()

    def has_ended() -> bool:
        nonlocal waiting_since
        players.check()
        response = get_tournament(connection, key)
        found = response.tournament
        if found.state == pb.TOURNAMENT_STATE_CANCELLED:
            if excess_of_faults(response):
                return True
            raise ArenaError(f"the match was cancelled at the server: {found.verdict or key}")
        if not found.waiting_for:
            waiting_since = time.monotonic()
        elif time.monotonic() - waiting_since > WAIT.total_seconds():
            raise ArenaError(f"the match was cancelled: {found.waiting_for}")
        return found.state == pb.TOURNAMENT_STATE_FINISHED

    _until(has_ended)


def excess_of_faults(response: pb.GetTournamentResponse) -> str:
    """Which bot has forfeited as many games as were allowed, in a sentence; empty for none."""
    most = response.tournament.settings.max_faults
    for count in response.faults:
        if most and count.faults >= most:
            games = "1 game" if count.faults == 1 else f"{count.faults} games"
            return f"stopped: {count.bot} has forfeited {games}"
    return ""


def finished_games(connection: Connection, tournament_id: str) -> list[game_pb2.Game]:
    """The games with a result, oldest first."""
    request = game_service_pb2.ListGamesRequest(
        tournament_id=tournament_id,
        state=game_pb2.GAME_STATE_FINISHED,
        with_moves=True,
    )
    return read_list(connection.ask, connection.games.ListGames, request).games[::-1]
