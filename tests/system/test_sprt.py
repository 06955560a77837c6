"""A match that a test ends, interrupted in every way there is."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.processes import Process, Processes, eventually
from tests.system.books import Books
from tests.system.server import Server

from meijin.store.schema import Game, GameState, Pairing

LINE_BOT = Path(__file__).parent / "line_bot.py"
SPECS = {"ada": f"{LINE_BOT}:Line", "bob": f"{LINE_BOT}:Dots"}
TERMS = ("--variant=7x7", "--time=20/move", "--openings=centre.txt", "--sprt=0,50")
PAIRS_NEEDED = 17


@pytest.fixture(autouse=True)
def _openings(processes: Processes) -> None:
    """Openings that are in nobody's way, as many as there are games of two bots without chance."""
    centre = [f"{column}{row}" for column in "cde" for row in (3, 4, 5)]
    openings = [*centre, *(f"d4 {cell}" for cell in centre if cell != "d4")]
    openings += [f"c4 {cell}" for cell in centre if cell != "c4"]
    (processes.folder / "centre.txt").write_text("\n".join(openings))


@pytest.fixture
def match(server: Server) -> Process:
    """Follows a match of two bots until the test has decided; Ada wins every game."""
    server.run_bots(**SPECS)
    words = ("match", *SPECS, *TERMS, f"--server={server.address}")
    return server.processes.start("match", *words)


def assert_decided(tournament: dict[str, Any]) -> None:
    assert tournament["state"] == "finished"
    assert tournament["sprt"]["decision"] == "elo1"
    assert tournament["sprt"]["pairs"] == [0, 0, 0, 0, PAIRS_NEEDED]
    first = tournament["settings"]["bots"][0]
    assert tournament["verdict"].startswith(f"H1 accepted: {first} is better (LLR ")


def assert_each_game_was_played_once(books: Books) -> None:
    """No planned game has two results, and none was left out."""
    numbers = select(Pairing.id, Pairing.number)
    by_id = dict(books.database.read(lambda at: at.execute(numbers).all()))
    games = books.games(GameState.FINISHED)
    played = Counter(by_id[game.pairing_id] for game in games)
    assert set(played.values()) == {1}
    assert set(by_id.values()) == set(range(1, max(by_id.values()) + 1))


@pytest.mark.smoke
def test_a_killed_server_goes_on_with_the_test(server: Server, match: Process) -> None:
    """The command that follows it sees it through, and says what was decided."""
    for finished in (4, 13):
        eventually(server.books.are_under_way, finished)
        server.process.kill(with_children=True)
        server.start()
    assert match.wait() == 0
    assert f"pairs 0-0-0-0-{PAIRS_NEEDED}" in match.words
    assert "H1 accepted: ada is better (LLR " in match.words
    assert_decided(server.ask("tournament", "show", "1")["tournament"])
    assert_each_game_was_played_once(server.books)


def test_an_interrupted_command_leaves_the_match_to_the_server(
    server: Server, match: Process
) -> None:
    """It says how to come back to it."""
    eventually(server.books.are_under_way, 2)
    assert match.stop(signal.SIGINT) == 1
    assert "`meijin tournament watch 1` follows it again" in " ".join(match.words.split())
    assert_decided(server.ask("tournament", "watch", "1")["tournament"])


def books_of(processes: Processes) -> Books:
    books = Books(f"sqlite:///{processes.folder / 'kept' / 'meijin.db'}")
    processes.at_end.callback(books.database.close)
    return books


def test_an_interrupted_local_match_is_taken_up_again(processes: Processes) -> None:
    """By the same command, in the folder that it kept; a third time there is nothing to play."""
    slow = [f"{spec}:delay=0.05" for spec in SPECS.values()]
    words = ("match", *slow, "--local", "--data=kept", *TERMS)
    kept = processes.folder / "kept"
    match = processes.start("match", *words)
    eventually(lambda: "listening on" in "".join(map(Path.read_text, kept.glob("server.log"))))
    books = books_of(processes)
    eventually(lambda: books.finished() > 1)
    assert match.stop(signal.SIGINT) == 1
    assert "the same command goes on with what is in kept" in " ".join(match.words.split())
    assert 0 < books.finished() < 2 * PAIRS_NEEDED
    for _ in range(2):
        found = processes.ask(*words)["tournament"]
        assert found["tournament_id"] == "1"
        assert_decided(found)
    assert_each_game_was_played_once(books)


def test_bots_that_repeat_themselves_end_undecided(processes: Processes) -> None:
    """With a status of its own: each game of one opening and its images counts once."""
    (processes.folder / "one.txt").write_text("d4 e4")
    words = ("match", f"{LINE_BOT}:Line", f"{LINE_BOT}:Line", "--local", "--data=kept")
    terms = ("--variant=7x7", "--time=20/move", "--openings=one.txt", "--sprt=0,20")
    done = processes.run(*words, *terms)
    assert done.returncode == 4, done.stderr
    assert "undecided: the last 50 pairs of games said nothing new (" in done.stdout
    query = select(Game.moves, Game.black_id).where(Game.state == GameState.FINISHED)
    games = books_of(processes).database.read(lambda at: at.execute(query).all())
    sprt = processes.ask(*words, *terms, status=4)["tournament"]["sprt"]
    assert sprt["decision"] == "nothing_new"
    kept = sum(sprt.get(part, 0) for part in ("wins", "draws", "losses"))
    assert kept <= len(set(games)) <= 8
    assert sprt["repeats"] == len(games) - kept
    assert f"repeats left out {sprt['repeats']}" in done.stdout
