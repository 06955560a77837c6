"""Engines of every kind, our own bots and those of other languages in tournaments of all rules."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.examples.conftest import COMMANDS, EXAMPLES
from tests.system.conftest import Books
from tests.system.processes import NO_LADDER, Processes, Server, eventually
from typer.testing import CliRunner

from meijin.cli.main import app
from meijin.game import RULES

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "system" / "brains" / "small_brain.c"
ALL_RULES = f"--rules={','.join(RULES)}"
BRAINS: Mapping[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "gomocup": ((ALL_RULES,), "line_brain", ()),
    "yixin": ((ALL_RULES,), "line_brain", ("yixin",)),
    "gtp": ((ALL_RULES,), "line_gtp", ()),
    "terminal": ((), "terminal_brain", ()),
}
"""The options of `meijin bot wrap`, the module of the engine, and its arguments.

`terminal` is somebody else's: the player of the package gomoku-terminal.
"""
OWN: Mapping[str, tuple[str, ...]] = {
    "random": ("random", "--option=seed=1"),
    "alphabeta": ("alphabeta", "--option=nodes=200"),
    "mcts": ("mcts", "--option=form=pure", "--option=playouts=20"),
    "numpy": (str(EXAMPLES / "numpy-batch" / "numpy_bot.py"),),
    "openspiel": (str(EXAMPLES / "openspiel" / "openspiel_bot.py"), "--option=simulations=10"),
}
"""What `meijin bot run` runs."""
PLAYERS_OF_SWAP2 = ("alphabeta", "mcts", "random", "javascript")
TOURNAMENTS: Mapping[str, tuple[str, ...]] = {
    "freestyle 15x15": (*BRAINS, *OWN, "small", "javascript", "python-plain"),
    "standard 15x15": ("yixin", "numpy", "small", "javascript", "alphabeta"),
    "renju 15x15": ("gomocup", "gtp", "small", "javascript", "mcts"),
    "caro 15x15": ("gtp", "numpy", "small", "javascript", "python-plain"),
    "caro-exact 15x15": ("gomocup", "yixin", "small", "javascript", "alphabeta"),
    "renju 15x15 swap2": PLAYERS_OF_SWAP2,
    "freestyle 15x15 swap2": PLAYERS_OF_SWAP2,
}
"""Who plays whom, by what is played."""
ROUNDS = 1
TIME = "60+2"
COMPILATION = 600.0
"""Seconds that it may take until all are there."""


@pytest.fixture(scope="module")
def small_brain(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    """The brain in C, if there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = tmp_path_factory.mktemp("brain") / "pbrain-small"
    subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
    return str(program)


def games_of(entrants: list[str]) -> int:
    """How many games a tournament of these has."""
    return ROUNDS * len(entrants) * (len(entrants) - 1) // 2


def start_all(server: Server, small_brain: str | None) -> set[str]:
    """Start everybody, and return the names."""
    where = f"--server={server.address}"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    wrap = ("bot", "wrap", where, "--sizes=15", "--pause=0", "--games=2")
    for name, (options, module, words) in BRAINS.items():
        engine = (sys.executable, "-m", f"tests.system.brains.{module}", *words)
        command = (*wrap, f"--name={name}", *options, "--", *engine)
        server.processes.start(name, *command, PYTHONPATH=paths)
    if small_brain is not None:
        server.processes.start("small", *wrap, "--name=small", ALL_RULES, "--", small_brain)
    for name, words in OWN.items():
        server.processes.start(name, "bot", "run", *words, where, f"--name={name}")
    for name, command in COMMANDS.items():
        server.processes.start_command(name, *command, name, MEIJIN_SERVER=server.address)
    return {*BRAINS, *OWN, *COMMANDS, *({"small"} if small_brain else ())}


@pytest.mark.timeout(1200)  # where nothing was compiled before, two searches are first
def test_tournaments_of_every_kind(
    processes: Processes, small_brain: str | None, open_books: Callable[[str], Books]
) -> None:
    """All games are decided on the board, and each crosstable is the sum of its games."""
    server = Server(processes, "--open", NO_LADDER)
    names = start_all(server, small_brain)
    eventually(lambda: server.connected_bots() == names, COMPILATION)
    entrants = {
        variant: [name for name in some if name in names] for variant, some in TOURNAMENTS.items()
    }
    made = {
        variant: server.create_tournament(*some, rounds=ROUNDS, time=TIME, variant=variant)
        for variant, some in entrants.items()
    }
    planned = sum(map(games_of, entrants.values()))
    books = open_books(server.database_url)
    eventually(lambda: books.finished() == planned, COMPILATION)
    books.assert_each_planned_game_was_played_once(planned)
    protocols = {
        name: re.findall(r"speaks (\w+)", (processes.folder / f"{name}.log").read_text())
        for name in ("yixin", "gtp")
    }
    assert protocols == {"yixin": ["yixin"], "gtp": ["gtp"]}
    for variant, tournament in made.items():
        assert_crosstable(server, tournament, entrants[variant])


def assert_crosstable(server: Server, tournament: str, entrants: list[str]) -> None:
    """The server's crosstable, and that of the export, are what the exported games add up to."""
    archive = server.processes.folder / f"{tournament}.zip"
    words = (tournament, f"--output={archive}", f"--server={server.address}")
    assert CliRunner().invoke(app, ["tournament", "export", *words]).exit_code == 0
    with ZipFile(archive) as opened:
        records = [
            opened.read(name).decode() for name in opened.namelist() if name.endswith(".sgf")
        ]
        exported = opened.read("crosstable.csv").decode()
    assert len(records) == games_of(entrants)
    summed = crosstable_of(records)
    found = server.tournament(tournament)
    pairs = set(permutations(entrants, 2))
    told = {
        (cell.bot, cell.opponent): (cell.wins, cell.draws, cell.losses) for cell in found.crosstable
    }
    rows = list(csv.reader(io.StringIO(exported)))[1:]
    assert told == {pair: tuple(summed[*pair, mark] for mark in "WDL") for pair in pairs}
    assert told == {(bot, other): tuple(map(int, counts)) for bot, other, *counts in rows}
    assert all(sum(counts) == ROUNDS for counts in told.values())
    assert {(count.bot, count.faults) for count in found.faults} == {(bot, 0) for bot in entrants}


def crosstable_of(records: list[str]) -> Counter[tuple[str, str, str]]:
    """How often each bot won (W), drew (D) and lost (L) against each other, by players and result."""
    marks = {"B": ("W", "L"), "W": ("L", "W"), "D": ("D", "D")}
    summed: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        black, white, result = (
            re.findall(rf"(?<=[;\]\s]){key}\[([^\]]*)\]", record)[0] for key in ("PB", "PW", "RE")
        )
        first, second = marks[result[0]]
        summed.update([(black, white, first), (white, black, second)])
    return summed
