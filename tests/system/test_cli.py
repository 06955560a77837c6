"""Commands of `meijin` against a server that asks for tokens; the pages' own run others."""

import csv
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from signal import SIGCONT, SIGSTOP
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest
from tests.processes import Process, eventually
from tests.system.screen import terminal
from tests.system.server import Server

QUICK = "--time=5/move"


@pytest.fixture(scope="module")
def ada(guarded_server: Server) -> Iterator[Process]:
    """Ada is there, and so is Grace, who is what `bot new` wrote, started as it says."""
    server = guarded_server
    tokens = {bot: server.ask("bot", "register", bot)["token"] for bot in ("ada", "grace")}
    ada = server.start_bot("ada", MEIJIN_TOKEN=tokens["ada"])
    assert "meijin bot run grace.py" in server.tell("bot", "new", "grace")
    words = ("bot", "run", "grace.py", f"--server={server.address}")
    grace = server.processes.start("grace", *words, MEIJIN_TOKEN=tokens["grace"])
    eventually(lambda: server.connected_bots() == {"ada", "grace"})
    yield ada
    assert ada.stop() == grace.stop() == 0


@pytest.fixture
def paused(ada: Process) -> Iterator[Process]:
    """Ada, who stands still until she is told to go on, and with her every game of hers."""
    ada.send(SIGSTOP)
    yield ada
    ada.send(SIGCONT)


@pytest.fixture
def server(guarded_server: Server, ada: Process) -> Server:
    assert ada.is_running
    return guarded_server


@pytest.fixture(scope="module")
def finished(guarded_server: Server, ada: Process) -> dict[str, Any]:
    assert ada.is_running
    run = ("tournament", "run", "ada", "grace", "--rounds=2", QUICK, "--seed=1", "--name=First")
    found = guarded_server.ask(*run)
    assert found["tournament"]["state"] == "finished"
    return found


@pytest.fixture
def key(finished: dict[str, Any]) -> str:
    return str(finished["tournament"]["tournament_id"])


@pytest.fixture
def game(server: Server, key: str) -> dict[str, Any]:
    games: list[dict[str, Any]] = server.ask("game", "list", f"--tournament={key}")["games"]
    return games[0]


def test_bots_are_listed_and_shown(server: Server) -> None:
    """Whoever there is, or is connected; versions, and results once there are any."""
    server.tell("bot", "register", "absent", "--owner=alan", "--display-name=Łukasz 名人")
    told = server.tell("bot", "list").split()
    assert {"ada", "absent", "alan", "connected", "away"} <= set(told)
    bots = {bot["name"]: bot for bot in server.ask("bot", "list")["bots"]}
    assert (bots["ada"]["connected"], bots["absent"]["connected"]) == (True, False)
    assert bots["ada"]["capabilities"]["max_games"] == 4
    assert bots["absent"]["display_name"] == "Łukasz 名人"
    connected = server.ask("bot", "list", "--connected")["bots"]
    assert [bot["name"] for bot in connected] == ["ada", "grace"]
    score, strength, time = server.tell("match", "ada", "grace", "--games=1", QUICK).splitlines()
    assert score.startswith("ada against grace: ")
    assert " of 1 (" in score
    assert strength.startswith("Elo ")
    assert time.endswith("faults 0 and 0")
    told = server.tell("bot", "show", "ada").splitlines()
    assert {"Versions of ada", "By colours", "Most met", "By endings", "By openings"} <= {
        line.strip() for line in told
    }
    found = server.ask("bot", "show", "ada")
    assert found["results"]["opponents"][0]["bot"] == "grace"
    assert len(found["versions"]) == 1


def test_challenge(server: Server) -> None:
    """It is followed to its end, and listed; nobody challenges who accepts none."""
    told = server.tell("bot", "set", "grace", "--challenges=none")
    assert "accepts the challenges of nobody but" in told
    challenge = ("challenge", "grace", "--bot=ada", "--games=1", QUICK)
    assert server.refusal(*challenge).startswith('"grace" accepts no challenges; its owner may')
    server.tell("bot", "set", "grace", "--challenges=anyone")
    made = server.ask(*challenge)["challenge"]
    assert (made["finished_games"], made["state"]) == (1, "finished")
    assert made in server.ask("challenge", "list")["challenges"]
    over = server.refusal("challenge", "cancel", made["challenge_id"])
    assert over == f"challenge {made['challenge_id']} is finished"


def test_a_finished_tournament_is_shown(server: Server, key: str, finished: dict[str, Any]) -> None:
    """With its crosstable, and among the others; as a zip that is the same every time."""
    table = server.tell("tournament", "show", key)
    assert table.startswith("First")
    assert "finished: 2 of 2 games, 0 running" in table
    assert server.ask("tournament", "show", key) == finished
    assert "First" in server.tell("tournament", "list")
    listed = server.ask("tournament", "list", "--limit=100")["tournaments"]
    assert finished["tournament"] in listed
    for name in ("first.zip", "second.zip"):
        assert "written to" in server.tell("tournament", "export", key, f"--output={name}")
    first, second = server.folder / "first.zip", server.folder / "second.zip"
    assert first.read_bytes() == second.read_bytes()
    again = server.refusal("tournament", "export", key, "--output=first.zip")
    assert "first.zip exists" in again
    with ZipFile(first) as opened:
        assert json.loads(opened.read("manifest.json"))["games"] == 2
        assert len(opened.namelist()) == 2 * 2 + 3


def test_a_tournament_is_cancelled_and_resumed(server: Server, paused: Process) -> None:
    """Its running game becomes void; taken up again, it ends with all its games."""
    create = ("tournament", "run", "--detach", "grace", "ada", "--rounds=2", "--request-id=once")
    made = server.ask(*create, "--unrated")
    assert made["planned_games"] == 2
    key = made["tournament_id"]
    again = server.tell(*create)
    assert f"tournament {key}: 2 games" in again
    assert f"follow it: meijin tournament watch {key}" in again
    eventually(lambda: "1 running" in server.tell("tournament", "show", key))
    assert "cancelled after 0 of 2 games" in server.tell("tournament", "cancel", key)
    shown = server.ask("tournament", "show", key)["tournament"]
    assert (shown["state"], shown["running_games"]) == ("cancelled", 0)
    (game,) = server.ask("game", "list", f"--tournament={key}")["games"]
    assert game["state"] == "void"
    paused.send(SIGCONT)
    resumed = server.ask("tournament", "resume", key)["tournament"]
    assert (resumed["state"], resumed["finished_games"]) == ("finished", 2)


@pytest.mark.usefixtures("finished")
def test_anchors_and_proof(server: Server) -> None:
    """An anchor is 1500 from the next run on; every run proves itself, an altered one doesn't."""
    assert "relative to grace" in server.tell("ladder", "anchors", "grace")
    eventually(server.has_current_ladder)
    marked = {row["bot"]: row for row in server.ask("ladder")["standings"]}
    assert (marked["grace"]["elo"], marked["grace"]["anchor"]) == (1500, True)
    assert "byte for byte" in server.tell("ladder", "verify")
    proof = server.ask("ladder", "verify")
    assert proof["differences"] == []
    with closing(sqlite3.connect(server.data / "meijin.db")) as database:
        for change in ("+ 1", "- 1"):
            database.execute(f"UPDATE rating SET elo = elo {change} WHERE run_id = {proof['run']}")
            database.commit()
            if change == "+ 1":
                refuted = server.tell("ladder", "verify", status=1)
    first_line = r"line of (ada|grace) 1: elo kept [\d.]+, computed"  # whoever has won
    assert re.search(rf"NOT what the games say\n{first_line}", refuted)
    assert "mean of the established" in server.tell("ladder", "anchors", "--none")


def test_games_are_listed_and_shown(server: Server, key: str, game: dict[str, Any]) -> None:
    """The board, the moves with their times, and the end."""
    assert len(server.ask("game", "list", f"--tournament={key}", "--bot=ada")["games"]) == 2
    shown = server.ask("game", "show", game["game_id"])
    assert len(shown["moves"]) == shown["ply"] == game["ply"]
    text = server.tell("game", "show", game["game_id"])
    assert text.startswith(f"game {game['game_id']}: {shown['black']} (x, black)")
    assert text.count("X") + text.count("x") >= shown["ply"] // 2
    assert game["game_id"] in server.tell("game", "list").split()
    listing = ("game", "list", f"--tournament={key}")
    cut_off = server.tell(*listing, "--limit=1")
    assert cut_off.endswith("there are older ones: give a higher --limit, or 0 for all\n")
    assert "older" not in server.tell(*listing, "--limit=0")


def test_a_game_is_stepped_through_by_keys(server: Server, game: dict[str, Any]) -> None:
    """From a ply on, back to the empty board and to the end; q leaves the screen as it was."""
    show, last = ("game", "show", game["game_id"]), game["ply"]
    assert f"ply 2 of {last}  " in server.tell(*show, "--ply=2")
    beyond = server.refusal(*show, f"--ply={last + 1}")
    assert beyond.endswith(f"game {game['game_id']} has plies 0 to {last}")
    piped = server.run(*show, "--step")
    assert "--step needs a terminal" in piped.stderr
    with terminal(server, 40, *show, "--step", "--ply=2") as opened:
        opened.wait_for(f"ply 2 of {last}")
        for keys, shown in (
            ("l", "ply 3"),
            ("g", "the empty board"),
            ("G", "wins by"),
            ("h", "ply"),
        ):
            opened.type(keys)
            opened.wait_for(shown)
        opened.type("q")
        assert opened.wait() == 0


def test_a_selection_of_games_is_exported(server: Server, key: str) -> None:
    """As records and as tables, by tournament, bot, ladder and start; all of them verify."""
    chosen = (f"--tournament={key}", "--bot=ada", "--since=2020-01-01", "--until=2120-01-01T00:00")
    export = ("game", "export", *chosen)
    server.tell(*export, "--output=chosen.sgf")
    assert "2 games, 0 wrong" in server.tell("game", "verify", "chosen.sgf")
    games = server.ask("game", "list", *chosen)["games"]
    assert "2 games, 0 wrong" in server.tell("game", "verify", *chosen, "--quiet")
    assert "1 game, 0 wrong" in server.tell("game", "verify", games[0]["game_id"])
    rows = csv.DictReader(server.tell(*export, "--format=csv").splitlines())
    assert [row["game_id"] for row in rows] == [game["game_id"] for game in games]
    server.tell(*export, "--format=parquet", "--rows=moves", "--output=moves.parquet")
    moves = pq.read_table(server.folder / "moves.parquet")
    assert moves.num_rows == sum(game["ply"] for game in games)
    ladder = server.ask("ladder")["ladder"]["name"]
    rated = server.tell("game", "export", f"--ladder={ladder}", "--format=pos").splitlines()
    assert len(rated) >= 2
    assert server.tell("game", "export", "--until=2020-01-01", "--format=json") == ""


def test_a_game_is_voided(server: Server) -> None:
    """It says so from then on, and its pairing is played again."""
    run = ("tournament", "run", "ada", "grace", "--rounds=1", QUICK, "--unrated")
    key = server.ask(*run)["tournament"]["tournament_id"]
    (game,) = server.ask("game", "list", f"--tournament={key}")["games"]
    told = server.tell("game", "void", game["game_id"], "--reason=a wrong opening")
    assert told == f"game {game['game_id']}: void: operator (a wrong opening)\n"
    assert told.partition(": ")[2] in server.tell("game", "show", game["game_id"])
    server.tell("tournament", "watch", key)
    again, voided = server.ask("game", "list", f"--tournament={key}")["games"]
    assert (voided["state"], again["state"]) == ("void", "finished")


def test_a_game_is_watched_to_its_end(server: Server, paused: Process) -> None:
    """Every move is printed once, then the board and the result."""
    made = server.ask("tournament", "run", "--detach", "ada", "grace", "--rounds=1", "--seed=1")
    listing = ("game", "list", f"--tournament={made['tournament_id']}")
    eventually(lambda: server.ask(*listing)["games"])
    (game,) = server.ask(*listing)["games"]
    words = ("game", "watch", game["game_id"])
    watch = server.processes.start("watch", *words, **server.env)
    watch.wait_for(f"game {game['game_id']}: {game['black']} (x, black) against {game['white']}")
    with terminal(server, 80, *words) as opened:
        opened.wait_for(f"game {game['game_id']}: ")
        paused.send(SIGCONT)
        assert watch.wait() == 0
        assert opened.wait() == 0
    ply = server.ask("game", "show", game["game_id"])["ply"]
    assert opened.screen.shows(f"ply {ply} of {ply}")
    assert [f"{place:>3}. " for place in range(1, ply + 1)] == [
        line[:5] for line in watch.words.splitlines()[1 : ply + 1]
    ]
    assert watch.words.splitlines()[-1] in {"black wins by five", "white wins by five", "draw"}
