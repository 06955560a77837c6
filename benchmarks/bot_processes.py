"""Programs that play, in processes of their own, as the benchmarks measure them."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from arena_process import ArenaProcess, child
from processor_time import tree_seconds
from tally import Tally, read_tally

from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub

INSTANT_BOT = Path(__file__).with_name("instant_bot.py")
PROCESSES = 8
"""The most that the bots of an arena are spread over: some share one where there are many."""
GAMES_PER_SECOND = 4_000
"""More than any run finishes."""


@dataclass(frozen=True, slots=True)
class BotProcesses:
    """Running programs that count what they do."""

    pids: Sequence[int]
    folder: Path
    """Of their tallies."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all of them."""
        return sum(map(tree_seconds, self.pids))

    @property
    def tally(self) -> Tally:
        """What they have done, all together."""
        return read_tally(self.folder)


@contextmanager
def processes(commands: Sequence[Sequence[str]]) -> Iterator[BotProcesses]:
    """Programs that are told a folder for their tallies by `--tally`, and stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="meijin-tally-") as folder, ExitStack() as stack:
        told = ("--tally", folder)
        pids = [stack.enter_context(child([*command, *told])).pid for command in commands]
        yield BotProcesses(pids, Path(folder))


@contextmanager
def instant_bots(
    arena: ArenaProcess, *, bots: int, games: int, seconds: float
) -> Iterator[BotProcesses]:
    """Instant bots that play a round robin with this many games at once, for longer than `seconds`."""
    names = [f"bot-{number}" for number in range(bots)]
    share = -(-2 * games // bots)
    used = min(bots, PROCESSES)
    commands = [
        [sys.executable, str(INSTANT_BOT), ",".join(names[first::used]), arena.address, str(share)]
        for first in range(used)
    ]
    with processes(commands) as playing:
        arena.wait_for_bots(bots)
        pairs = bots * (bots - 1) // 2
        planned = max(int(seconds * GAMES_PER_SECOND), 2 * games)
        start_tournament(arena.address, names, rounds=-(-planned // pairs), games=games)
        yield playing


def start_tournament(address: str, names: Sequence[str], *, rounds: int, games: int) -> None:
    """Have bots play an unrated round robin, this many games at once."""
    control = game_pb2.TimeControl()
    control.per_move.FromSeconds(60)
    settings = tournament_service_pb2.TournamentSettings(
        bots=names, rounds=rounds, time_control=control, unrated=True, max_games=games
    )
    with grpc.insecure_channel(address) as channel:
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        TournamentServiceStub(channel).CreateTournament(request, timeout=60)
