"""A match that a test ends, interrupted in every way there is."""

import json
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select
from tests.system.processes import NO_LADDER, Process, Processes, Server, eventually

from meijin.store.schema import Game, GameState, Pairing

if TYPE_CHECKING:
    from tests.system.conftest import Books

LINE_BOT = Path(__file__).parent / "line_bot.py"
SPECS = {"ada": f"{LINE_BOT}:Line", "bob": f"{LINE_BOT}:Dots"}
TERMS = ("--variant=7x7", "--time=20/move", "--openings=centre.txt")
TEST = ("--sprt=0,50",)
PAIRS_NEEDED = 17


@pytest.fixture(autouse=True)
def _openings(processes: Processes) -> None:
    """Openings that are in nobody's way, as many as there are games of two bots without chance."""
    centre = [f"{column}{row}" for column in "cde" for row in (3, 4, 5)]
    openings = [*centre, *(f"d4 {cell}" for cell in centre if cell != "d4")]
    openings += [f"c4 {cell}" for cell in centre if cell != "c4"]
    (processes.folder / "centre.txt").write_text("\n".join(openings))


def start_players(server: Server) -> list[Process]:
    """Both bots; Ada wins every game."""
    where = f"--server={server.address}"
    players = [
        server.processes.start(name, "bot", "run", spec, f"--name={name}", where)
        for name, spec in SPECS.items()
    ]
    eventually(lambda: server.connected_bots() == set(SPECS))
    return players


def start_match(server: Server) -> Process:
    """Follow a match of the two until the test has decided."""
    where = f"--server={server.address}"
    return server.processes.start("match", "match", *SPECS, *TERMS, *TEST, where)


def assert_decided(tournament: dict[str, Any]) -> None:
    """For Ada, by as many pairs as it takes."""
    assert tournament["state"] == "TOURNAMENT_STATE_FINISHED"
    assert tournament["sprt"]["decision"] == "SPRT_DECISION_ELO1"
    assert tournament["sprt"]["pairs"] == [0, 0, 0, 0, PAIRS_NEEDED]
    assert tournament["verdict"].endswith("50 normalised Elo accepted, 0 rejected")


def assert_each_game_was_played_once(books: "Books") -> None:
    """No planned game has two results, and none was left out."""
    numbers = select(Pairing.id, Pairing.number)
    by_id = dict(books.database.read(lambda sql: sql.execute(numbers).all()))
    games = books.games(GameState.FINISHED)
    played = Counter(by_id[game.pairing_id] for game in games)
    assert set(played.values()) == {1}
    assert set(by_id.values()) == set(range(1, max(by_id.values()) + 1))


@pytest.mark.smoke
def test_a_killed_server_goes_on_with_the_test(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """The command that follows it sees it through, and says what was decided."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    start_players(server)
    match = start_match(server)
    for finished in (4, 13):
        eventually(partial(books.are_under_way, finished))
        server.process.kill(with_children=True)
        server.start()
    assert match.wait() == 0
    assert f"pairs 0-0-0-0-{PAIRS_NEEDED}" in match.words
    assert "ada over bob: 50 normalised Elo accepted, 0 rejected" in match.words
    done = processes.run("tournament", "show", "1", "--json", f"--server={server.address}")
    assert_decided(json.loads(done.stdout)["tournament"])
    assert_each_game_was_played_once(books)


def test_an_interrupted_command_leaves_the_match_to_the_server(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """It says how to come back to it."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    start_players(server)
    match = start_match(server)
    eventually(lambda: books.are_under_way(2))
    assert match.stop(signal.SIGINT) == 1
    assert "`meijin tournament watch 1` follows it again" in " ".join(match.words.split())
    where = f"--server={server.address}"
    done = processes.run("tournament", "watch", "1", "--json", where)
    assert done.returncode == 0, done.stderr
    assert_decided(json.loads(done.stdout)["tournament"])


def test_an_interrupted_local_match_is_taken_up_again(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """By the same command, in the folder that it kept; a third time there is nothing to play."""
    words = ("match", *SPECS.values(), "--local", "--data=kept", *TERMS, *TEST)
    kept = processes.folder / "kept"
    books = open_books(f"sqlite:///{kept / 'meijin.db'}")
    match = processes.start("match", *words)
    eventually(lambda: "listening on" in "".join(map(Path.read_text, kept.glob("server.log"))))
    eventually(lambda: books.are_under_way(3))
    assert match.stop(signal.SIGINT) == 1
    assert "the same command goes on with what is in kept" in " ".join(match.words.split())
    before = books.finished()
    assert 0 < before < 2 * PAIRS_NEEDED
    for _ in range(2):
        done = processes.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)["tournament"]
        assert found["tournament_id"] == "1"
        assert_decided(found)
    assert_each_game_was_played_once(books)


def test_a_match_that_is_used_up_has_a_status_of_its_own(processes: Processes) -> None:
    """So that a script can tell it from one that was decided."""
    words = ("match", *SPECS.values(), "--local", *TERMS, *TEST, "--games=2")
    done = processes.run(*words)
    assert done.returncode == 3, done.stderr
    assert "undecided after 2 games" in done.stdout


def test_bots_that_repeat_themselves_end_undecided(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """With a status of its own: each game of one opening and its images counts once."""
    (processes.folder / "one.txt").write_text("d4 e4")
    words = ("match", f"{LINE_BOT}:Line", f"{LINE_BOT}:Line", "--local", "--data=kept")
    terms = ("--variant=7x7", "--time=20/move", "--openings=one.txt", "--sprt=0,20")
    done = processes.run(*words, *terms)
    assert done.returncode == 4, done.stderr
    assert "undecided: nothing new in the last 50 pairs of games; " in done.stdout
    books = open_books(f"sqlite:///{processes.folder / 'kept' / 'meijin.db'}")
    query = select(Game.moves, Game.black_id).where(Game.state == GameState.FINISHED)
    games = books.database.read(lambda sql: sql.execute(query).all())
    told = processes.run(*words, *terms, "--json")
    assert told.returncode == 4, told.stderr
    found = json.loads(told.stdout)["tournament"]
    sprt = found["sprt"]
    assert sprt["decision"] == "SPRT_DECISION_NOTHING_NEW"
    kept = sum(sprt.get(part, 0) for part in ("wins", "draws", "losses"))
    assert kept <= len(set(games)) <= 8
    assert sprt["repeats"] == len(games) - kept
    assert f"repeats left out {sprt['repeats']}" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--alpha=0.01",), "--alpha, --beta, --sprt-scale and --sprt-unit go with --sprt"),
        (("--sprt=0",), '--sprt takes two numbers such as 0,10, not "0"'),
        (("--sprt=10,0", "--local"), "elo0 10 is not below elo1 0"),
        (("--data=kept",), "--data goes with --local"),
    ],
)
def test_impossible_options(processes: Processes, words: tuple[str, ...], told: str) -> None:
    """One line says what is wrong."""
    done = processes.run("match", *SPECS.values(), *TERMS, *words)
    assert done.returncode == 1
    assert told in " ".join(done.stderr.split())
