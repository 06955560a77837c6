"""A stage: a real server with pages, and everything on it that pages show."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection as StoreConnection
from sqlalchemy import select
from tests.processes import Processes, eventually, free_port
from tests.system.server import Server
from tests.web.browser.troupe import HOSTILE, REVERSED, SINGLE, SLOW

from meijin.game import TimeControl, Variant
from meijin.local.connection import Connection, make_tournament
from meijin.programs.kinds import ProgramKind
from meijin.store import Database
from meijin.store.programs import usage
from meijin.store.rows import add_row
from meijin.store.schema import Bot, Finding, FindingStatus, Program, ProgramState
from meijin.v1 import bot_service_pb2, fault_service_pb2, game_pb2, game_service_pb2
from meijin.v1 import class_service_pb2 as class_pb
from meijin.v1 import ladder_service_pb2 as ladder_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASS, STUDENT = "CS101", "failing-student"
HOSTED = "hosted"
"""Is at no stream, and has programs."""
WIDE = "囲" * 60
DISPLAY_NAMES = {"mallory": HOSTILE, "wide": WIDE}
RATED = ("ada", "bea", "mallory", "wide")
SLOW_ONES = (f"{SLOW}-one", f"{SLOW}-two")
BOTS = (*RATED, "failing", SINGLE, *SLOW_ONES)
FORBIDDEN = (HOSTILE, REVERSED[0], "\x07", "<b onclick")
"""What stands in no page, since names, labels and words of others have it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the pages are, and what is to be seen on them."""

    origin: str
    operator_token: str
    student_token: str
    """Of a student's bot."""
    places: Mapping[str, str]
    """What stands for the names in braces of an address."""

    def address(self, form: str) -> str:
        """An address in which names stand for what is here."""
        return form.format_map(self.places)


@contextmanager
def set_stage(folder: Path) -> Iterator[Stage]:
    """Start a server and its bots, and have them play what the pages show."""
    processes = Processes(folder)
    try:
        yield _set(processes)
    finally:
        processes.kill_all()


def _set(processes: Processes) -> Stage:
    web = f"127.0.0.1:{free_port()}"
    server = Server(processes, "--hosting", f"--web={web}")
    token, connection = server.token, server.connection
    tokens = [f"{name}={_register(connection, name)}" for name in BOTS]
    student = _enrol(connection)
    tokens.append(f"{STUDENT}={student}")
    command = (sys.executable, "-m", "tests.web.browser.troupe", server.address, *tokens)
    root = Path(__file__).resolve().parents[3]
    troupe = processes.start_command("troupe", *command, PYTHONPATH=str(root))
    eventually(lambda: server.connected_bots() >= set(BOTS) or not troupe.is_running)
    assert troupe.is_running, troupe.words
    for name in ("ada", "wide", SINGLE):
        policy = bot_service_pb2.UpdateBotRequest(
            name=name, challenges=bot_service_pb2.CHALLENGE_POLICY_ANYONE
        )
        connection.ask(connection.bots.UpdateBot, policy)
    make = partial(_make, connection)
    rated = make(HOSTILE, RATED, rounds=2)
    bracket = make("bracket", RATED, format=pb.TOURNAMENT_FORMAT_KNOCKOUT, unrated=True)
    sprt = pb.Sprt(elo0=0, elo1=50, most_games=8)
    test = make("test", ("ada", "bea"), format=pb.TOURNAMENT_FORMAT_SPRT, sprt=sprt, unrated=True)
    swapped = make("swap2", ("ada", "bea"), variant="15x15 swap2", rounds=1, unrated=True)
    faulty = make("faulty", ("failing", "ada"), rounds=2, unrated=True)
    late = make("homework", (STUDENT, "bea"), rounds=2)
    live = make("live", SLOW_ONES, variant="15x15", rounds=200, unrated=True, max_games=2)
    for key in (rated, bracket, test, swapped, faulty, late):
        eventually(partial(_is_over, server, key))
    eventually(lambda: connection.ask(connection.games.ListGames, _running(live)).games)
    eventually(server.has_current_ladder)
    games = {
        "game": _game(connection, rated),
        "faulty_game": _game(connection, faulty),
        "swapped_game": _game(connection, swapped),
        "live_game": connection.ask(connection.games.ListGames, _running(live)).games[0].game_id,
    }
    _register(connection, HOSTED)
    with Database(server.database_url) as database:
        programs = {
            "program": database.write(_add_program, ProgramState.REFUSED),
            "open_program": database.write(_add_program, ProgramState.CHECKING),
        }
    ladders = connection.ask(connection.ladders.ListLadders, ladder_pb2.ListLaddersRequest())
    places = {
        **games,
        **programs,
        "hosted_bot": HOSTED,
        "school_class": CLASS,
        "bot": "mallory",
        "other_bot": "wide",
        "failing_bot": "failing",
        "ladder": ladders.ladders[0].name,
        "tournament": rated,
        "bracket": bracket,
        "test": test,
        "live": live,
    }
    faults = connection.ask(connection.faults.ListFaults, fault_service_pb2.ListFaultsRequest())
    assert any(HOSTILE in fault.detail + fault.traceback for fault in faults.faults)
    return Stage(f"http://{web}", token, student, places)


def _register(connection: Connection, name: str) -> str:
    request = bot_service_pb2.RegisterBotRequest(
        name=name, display_name=DISPLAY_NAMES.get(name, "")
    )
    return str(connection.ask(connection.bots.RegisterBot, request).token)


def _enrol(connection: Connection) -> str:
    """Make a class of a student, whose bot fails, and one who hands nothing in."""
    connection.ask(connection.classes.CreateClass, class_pb.CreateClassRequest(name=CLASS))
    tokens = []
    for handle, display_name in ((STUDENT, "Nora <i>"), ("absent", WIDE)):
        wanted = class_pb.Student(handle=handle, display_name=display_name)
        request = class_pb.UpdateClassRequest(name=CLASS, student=wanted, people=9)
        tokens.append(str(connection.ask(connection.classes.UpdateClass, request).token))
    return tokens[0]


def _add_program(to: StoreConnection, state: ProgramState) -> str:
    """Write a program of all kinds of findings, which no worker takes; return its id."""
    now, bot_id = datetime.now(UTC), to.scalars(select(Bot.id).where(Bot.name == HOSTED)).one()
    findings = tuple(
        Finding(f"{status.value} {HOSTILE}", status, HOSTILE, REVERSED, (HOSTILE, WIDE * 9))
        for status in FindingStatus
    )
    program = Program(
        bot_id=bot_id,
        digest=hashlib.sha256(state.value.encode()).hexdigest(),
        kind=ProgramKind.ARCHIVE,
        state=state,
        size=1 << 20,
        file_name=f"{HOSTILE}.zip",
        label=WIDE[:40],
        uploader="operator",
        create_time=now,
        update_time=now,
        reason=HOSTILE,
        findings=findings,
        lease_time=now + timedelta(days=1),
        starts=3,
        cpu_ms=90_000,
        memory_bytes=1 << 28,
        output_bytes=99,
        limit_hit="memory: 256 MiB",
    )
    key = add_row(to, program).id
    usage.append_log(to, key, [HOSTILE, REVERSED, WIDE * 9])
    return str(key)


def _make(
    connection: Connection,
    name: str,
    bots: tuple[str, ...],
    *,
    variant: str = "7x7",
    rounds: int = 0,
    format: pb.TournamentFormat.ValueType = pb.TOURNAMENT_FORMAT_ROUND_ROBIN,  # noqa: A002 - the field
    unrated: bool = False,
    sprt: pb.Sprt | None = None,
    max_games: int = 0,
) -> str:
    settings = pb.TournamentSettings(
        name=name,
        bots=bots,
        rounds=rounds,
        seed=1,
        format=format,
        unrated=unrated,
        sprt=sprt,
        max_games=max_games,
        variant=variant_to_proto(Variant.parse(variant)),
        time_control=time_control_to_proto(TimeControl.parse("60+1")),
    )
    return make_tournament(connection, settings).tournament_id


def _is_over(server: Server, key: str) -> bool:
    return bool(server.tournament(key).tournament.state == pb.TOURNAMENT_STATE_FINISHED)


def _running(tournament: str) -> game_service_pb2.ListGamesRequest:
    return game_service_pb2.ListGamesRequest(
        tournament_id=tournament, state=game_pb2.GAME_STATE_RUNNING
    )


def _game(connection: Connection, tournament: str) -> str:
    request = game_service_pb2.ListGamesRequest(tournament_id=tournament, page_size=1)
    return connection.ask(connection.games.ListGames, request).games[0].game_id
