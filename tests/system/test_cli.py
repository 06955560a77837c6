"""Every command of `meijin`, against a server that asks for tokens."""

import csv
import hashlib
import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from signal import SIGCONT, SIGSTOP
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest
from tests.system.processes import Process, Server, eventually
from tests.system.screen import terminal
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from meijin.cli.game_view import print_game
from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app
from meijin.cli.output import state_text
from meijin.game import Ending, from_sgf
from meijin.v1 import game_pb2

COMMANDS = {
    *("serve", "web", "worker", "match", "demo", "certificate", "status", "backup", "restore"),
    "analyse",
    *(f"ladder {verb}" for verb in ("show", "run", "settle", "compare", "anchors", "verify")),
    "ladder export",
    "ladder cite",
    *("bot doctor", "bot bench", "bot set", "login", "logout"),
    *(f"challenge {verb}" for verb in ("make", "list", "cancel")),
    *(f"bot {verb}" for verb in ("run", "wrap", "engine", "new", "list", "show", "versions")),
    "bot register",
    *(f"token {verb}" for verb in ("list", "create", "rotate", "revoke")),
    *(f"class {verb}" for verb in ("create", "list", "show", "deadline", "grade", "report")),
    *(f"class {verb}" for verb in ("copies", "ladder")),
    *(f"admin {verb}" for verb in ("invite", "invitations", "uninvite", "owners", "audit")),
    *(
        f"tournament {verb}"
        for verb in ("run", "show", "watch", "list", "cancel", "resume", "export")
    ),
    *(f"game {verb}" for verb in ("show", "export", "convert", "verify", "list", "watch", "void")),
    "game replay",
    *(f"openings {verb}" for verb in ("explore", "list", "recount", "vet")),
    *("faults", "status", "backup", "restore", "verify"),
    *(f"webhook {verb}" for verb in ("create", "list", "delete", "enable", "rotate", "test")),
    *(f"webhook {verb}" for verb in ("deliveries", "redeliver")),
    *(f"learn {lesson}" for lesson in ("tree", "tictactoe", "2048", "gomoku")),
}
Meijin = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def meijin(guarded_server: Server) -> Meijin:
    """Run a command on the operator's machine: it finds the server and the token."""
    kept = {"MEIJIN_SERVER": guarded_server.address, "MEIJIN_DATA": str(guarded_server.data)}

    def run(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return guarded_server.processes.run(*words, **(kept | env))

    return run


@pytest.fixture(scope="module")
def tokens(meijin: Meijin) -> dict[str, str]:
    """Two registered bots and their tokens."""
    return {bot: ask(meijin, "bot", "register", bot)["token"] for bot in ("ada", "grace")}


@pytest.fixture(scope="module")
def ada(
    guarded_server: Server,
    meijin: Meijin,
    tokens: dict[str, str],
) -> Iterator[Process]:
    """Ada is there, and so is Grace, who is what `bot new` wrote, started as it says."""
    processes, address = guarded_server.processes, guarded_server.address
    ada = processes.start_bot("ada", address, MEIJIN_TOKEN=tokens["ada"])
    wrote = meijin("bot", "new", "grace")
    assert wrote.returncode == 0
    assert "meijin bot run grace.py" in wrote.stdout
    words = ("bot", "run", "grace.py", f"--server={address}")
    grace = processes.start("grace", *words, MEIJIN_TOKEN=tokens["grace"])
    eventually(lambda: guarded_server.connected_bots() == {"ada", "grace"})
    yield ada
    assert ada.stop() == grace.stop() == 0


@pytest.fixture
def paused(ada: Process) -> Iterator[Process]:
    """Ada, who stands still until she is told to go on, and with her every game of hers."""
    ada.send(SIGSTOP)
    yield ada
    ada.send(SIGCONT)


@pytest.fixture(scope="module")
def finished(meijin: Meijin, ada: Process) -> dict[str, Any]:
    """A tournament of two games, run to its end."""
    assert ada.is_running
    run = ("tournament", "run", "ada", "grace", "--rounds=2", "--time=5/move", "--seed=1")
    return ask(meijin, *run, "--name=First")


def ask(meijin: Meijin, *words: str) -> dict[str, Any]:
    """What a command answers with ``--json``: one object on one line."""
    done = meijin(*words, "--json")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def tell(meijin: Meijin, *words: str) -> str:
    """What a command prints for people."""
    done = meijin(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- help ---------------------------------------------------------------------------


def commands() -> dict[str, str]:
    """Every command with the first line of its help."""
    root = get_command(app)
    assert isinstance(root, LazyGroup)
    found: dict[str, str] = {}
    for name in root.commands:
        command = root.load(name)
        inner = command.commands if isinstance(command, TyperGroup) else {"": command}
        found |= {f"{name} {verb}".strip(): str(each.help) for verb, each in inner.items()}
    return {path: text.splitlines()[0] for path, text in found.items()}


def test_the_commands_are_those_of_the_readme() -> None:
    """Every one is tested here, so a new one has to be added."""
    assert set(commands()) == COMMANDS


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str) -> None:
    """``--help`` says what the command does."""
    shown = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert commands()[command] in " ".join(shown.output.split())


# -- bots ---------------------------------------------------------------------------


def test_a_token_is_shown_once_and_kept_as_a_hash(meijin: Meijin, guarded_server: Server) -> None:
    """Its text is in no file of the server; the newest token alone is good."""
    shown = meijin("bot", "register", "secretive", "--owner=alan")
    assert shown.returncode == 0
    token = shown.stdout.strip()
    assert len(token.split()) == 1
    assert "not shown again" in shown.stderr
    rotated = tell(meijin, "bot", "register", "secretive", "--rotate").strip()
    assert rotated != token
    with closing(sqlite3.connect(guarded_server.data / "meijin.db")) as database:
        digests = {row for (row,) in database.execute("SELECT digest FROM token")}
    operator = (guarded_server.data / "operator.token").read_text().strip()
    for secret in (token, rotated, operator):
        assert hashlib.sha256(secret.encode()).hexdigest() in digests
        files = [path for path in guarded_server.processes.folder.rglob("*") if path.is_file()]
        assert [path.name for path in files if secret.encode() in path.read_bytes()] == (
            ["operator.token"] if secret == operator else []
        )
    refused = meijin("bot", "run", "random", MEIJIN_TOKEN=token)  # rotated away
    assert refused.returncode == 1
    assert "missing or unknown token" in refused.stderr


@pytest.mark.usefixtures("ada")
def test_bot_list_tells_who_is_there(meijin: Meijin) -> None:
    """As a table, as JSON, and only those that are connected."""
    meijin("bot", "register", "absent", "--owner=alan", "--display-name=Łukasz 名人")
    assert {"ada", "absent", "alan", "connected", "away"} <= set(
        tell(meijin, "bot", "list").split()
    )
    bots = {bot["name"]: bot for bot in ask(meijin, "bot", "list")["bots"]}
    assert bots["ada"]["connected"] is True
    assert bots["ada"]["capabilities"]["max_games"] == 4
    assert bots["absent"]["connected"] is False
    assert bots["absent"]["display_name"] == "Łukasz 名人"
    connected = ask(meijin, "bot", "list", "--connected")["bots"]
    assert [bot["name"] for bot in connected] == ["ada", "grace"]


@pytest.mark.usefixtures("ada")
def test_bot_show_tells_of_one(meijin: Meijin) -> None:
    """Its versions, and its results once it has any."""
    ask(meijin, "match", "ada", "grace", "--games=2", "--time=5/move")
    told = tell(meijin, "bot", "show", "ada")
    assert told.startswith("ada")
    assert {"Versions of ada", "By colours", "Most met", "By endings", "By openings"} <= set(
        map(str.strip, told.splitlines())
    )
    found = ask(meijin, "bot", "show", "ada")
    assert found["bot"]["name"] == "ada"
    assert found["results"]["opponents"][0]["bot"] == "grace"
    assert len(found["versions"]) == 1


# -- matches and tournaments --------------------------------------------------------


@pytest.mark.usefixtures("ada")
def test_match_on_a_server(meijin: Meijin) -> None:
    """The score, the strength and the time are a line each."""
    told = tell(meijin, "match", "ada", "grace", "--games=1", "--time=5/move")
    score, strength, time = told.splitlines()
    assert score.startswith("ada against grace: ")
    assert " of 1 (" in score
    assert strength.startswith("Elo ")
    assert time.endswith("faults 0 and 0")


@pytest.mark.usefixtures("ada")
def test_challenge(meijin: Meijin) -> None:
    """It is followed to its end, and listed; nobody challenges who accepts none."""
    assert "accepts the challenges of nobody but" in tell(
        meijin, "bot", "set", "grace", "--challenges=none"
    )
    refused = meijin("challenge", "grace", "--bot=ada", "--games=1", "--time=5/move")
    assert refused.returncode == 1
    assert refused.stderr.startswith('meijin: "grace" accepts no challenges; its owner may')
    tell(meijin, "bot", "set", "grace", "--challenges=anyone")
    told = ask(meijin, "challenge", "grace", "--bot=ada", "--games=1", "--time=5/move")
    made = told["challenge"]
    assert (made["finished_games"], made["state"]) == (1, "TOURNAMENT_STATE_FINISHED")
    assert made in ask(meijin, "challenge", "list")["challenges"]
    over = meijin("challenge", "cancel", made["challenge_id"])
    assert over.stderr.strip() == f"meijin: challenge {made['challenge_id']} is finished"


def test_match_without_a_server(meijin: Meijin) -> None:
    """A built-in bot against a file, for as long as the match lasts."""
    tell(meijin, "bot", "new", "neighbour", "--path=local.py")
    response = ask(meijin, "match", "random", "local.py", "--local", "--games=2", "--time=5/move")
    assert response["tournament"]["settings"]["bots"] == ["random", "local"]
    assert response["tournament"]["finished_games"] == 2


def test_a_finished_tournament_is_shown(meijin: Meijin, finished: dict[str, Any]) -> None:
    """With its crosstable, and among the others."""
    assert finished["tournament"]["state"] == "TOURNAMENT_STATE_FINISHED"
    key = finished["tournament"]["tournament_id"]
    table = tell(meijin, "tournament", "show", key)
    assert table.startswith("First")
    assert "finished: 2 of 2 games, 0 running" in table
    assert ask(meijin, "tournament", "show", key) == finished
    assert "First" in tell(meijin, "tournament", "list")
    listed = ask(meijin, "tournament", "list", "--limit=100")["tournaments"]
    assert finished["tournament"] in listed


def test_a_tournament_is_cancelled_and_resumed(meijin: Meijin, paused: Process) -> None:
    """Its running game becomes void; taken up again, it ends with all its games."""
    create = ("tournament", "run", "--detach", "grace", "ada", "--rounds=2", "--request-id=once")
    made = ask(meijin, *create, "--unrated")
    assert made["planned_games"] == 2
    key = made["tournament_id"]
    again = tell(meijin, *create)
    assert f"tournament {key}: 2 games" in again
    assert f"follow it: meijin tournament watch {key}" in again
    assert "1 running" in tell(meijin, "tournament", "show", key)
    assert "cancelled after 0 of 2 games" in tell(meijin, "tournament", "cancel", key)
    shown = ask(meijin, "tournament", "show", key)["tournament"]
    assert (shown["state"], shown["running_games"]) == ("TOURNAMENT_STATE_CANCELLED", 0)
    (game,) = ask(meijin, "game", "list", f"--tournament={key}")["games"]
    assert game["state"] == "GAME_STATE_VOID"
    paused.send(SIGCONT)
    resumed = ask(meijin, "tournament", "resume", key)["tournament"]
    assert (resumed["state"], resumed["finished_games"]) == ("TOURNAMENT_STATE_FINISHED", 2)


def test_ladder(
    meijin: Meijin,
    finished: dict[str, Any],
    guarded_server: Server,
) -> None:
    """Both bots stand on it, by name or as the only one."""
    eventually(guarded_server.has_current_ladder)
    assert {"Elo", "ada", "grace"} <= set(tell(meijin, "ladder").split())
    ladder = ask(meijin, "ladder", finished["tournament"]["ladder"])
    assert {line["bot"] for line in ladder["standings"]} == {"ada", "grace"}
    ranks = [line["rank"] for line in ladder["standings"]]
    assert ranks in ([1, 1], [1, 2])  # the same for equal ratings


def test_a_ladder_in_other_forms(
    meijin: Meijin,
    finished: dict[str, Any],
    guarded_server: Server,
) -> None:
    """CSV, the matrix, two bots, the history as text and as a picture."""
    assert finished["tournament"]["state"] == "TOURNAMENT_STATE_FINISHED"
    eventually(guarded_server.has_current_ladder)
    header, *lines = tell(meijin, "ladder", "--export=csv").splitlines()
    assert header.startswith("rank,bot,version,elo,margin")
    assert len(lines) == 2
    assert tell(meijin, "ladder", "--export=csv", "--top=1").splitlines() == [header, lines[0]]
    assert len(ask(meijin, "ladder", "--export=json", "--top=1")["standings"]) == 1
    assert len(ask(meijin, "ladder", "--matrix")["rows"]) == 2
    assert "per cent" in tell(meijin, "ladder", "--matrix")
    assert "ada 1 against grace 1" in tell(meijin, "ladder", "compare", "ada", "grace")
    assert "stronger with a chance" in tell(meijin, "ladder", "compare", "ada", "grace")
    curves = ask(meijin, "ladder", "--history")["curves"]
    assert {name: len(points) for name, points in curves.items()} == {"ada": 1, "grace": 1}
    assert "ada" in tell(meijin, "ladder", "--history")
    assert "drawn in" in tell(meijin, "ladder", "--history", "--plot=ladder.svg")
    assert "<svg" in (guarded_server.processes.folder / "ladder.svg").read_text()


def test_a_ladder_that_plays_on(meijin: Meijin, ada: Process) -> None:
    """It ends with its games, and each game says why it was paired."""
    assert ada.is_running
    words = ("ladder", "run", "ada", "grace", "--games=4", "--time=5/move")
    run = meijin(*words)
    assert run.returncode == 0, run.stderr
    assert "Ladder freestyle-15x15-rapid" in run.stdout
    assert "4 games, the most there were to be" in run.stdout
    assert run.stderr.count("game ") >= 4


def test_anchors_and_proof(
    meijin: Meijin,
    finished: dict[str, Any],
    guarded_server: Server,
) -> None:
    """An anchor is 1500 from the next run on; every run proves itself, an altered one doesn't."""
    assert finished["tournament"]["state"] == "TOURNAMENT_STATE_FINISHED"
    assert "relative to grace" in tell(meijin, "ladder", "anchors", "grace")
    eventually(guarded_server.has_current_ladder)
    marked = {row["bot"]: row for row in ask(meijin, "ladder")["standings"]}
    assert (marked["grace"]["elo"], marked["grace"]["anchor"]) == (1500, True)
    assert "byte for byte" in tell(meijin, "ladder", "verify")
    proof = ask(meijin, "ladder", "verify")
    assert proof["differences"] == []
    with closing(sqlite3.connect(guarded_server.data / "meijin.db")) as database:
        database.execute("UPDATE rating SET elo = elo + 1 WHERE run_id = ?", (proof["run"],))
        database.commit()
        refuted = meijin("ladder", "verify")
        database.execute("UPDATE rating SET elo = elo - 1 WHERE run_id = ?", (proof["run"],))
        database.commit()
    assert refuted.returncode == 1
    assert "NOT what the games say: ratings" in refuted.stdout
    assert "mean of the established" in tell(meijin, "ladder", "anchors", "--none")


# -- games --------------------------------------------------------------------------


def test_games_are_listed_and_shown(meijin: Meijin, finished: dict[str, Any]) -> None:
    """The board, the moves with their times, and the end."""
    key = finished["tournament"]["tournament_id"]
    listed = ask(meijin, "game", "list", f"--tournament={key}", "--bot=ada")["games"]
    assert len(listed) == 2
    shown = ask(meijin, "game", "show", listed[0]["game_id"])
    assert len(shown["moves"]) == shown["ply"] == listed[0]["ply"]
    text = tell(meijin, "game", "show", listed[0]["game_id"])
    assert text.startswith(f"game {listed[0]['game_id']}: {shown['black']} (x, black)")
    assert text.count("X") + text.count("x") >= shown["ply"] // 2
    assert listed[0]["game_id"] in tell(meijin, "game", "list").split()
    cut_off = tell(meijin, "game", "list", f"--tournament={key}", "--limit=1")
    assert cut_off.endswith("there are older ones: give a higher --limit, or 0 for all\n")
    assert "older" not in tell(meijin, "game", "list", f"--tournament={key}", "--limit=2")
    assert "older" not in tell(meijin, "game", "list", f"--tournament={key}", "--limit=0")


def test_a_game_is_stepped_through_by_keys(
    meijin: Meijin, finished: dict[str, Any], guarded_server: Server
) -> None:
    """From a ply on, back to the empty board and to the end; q leaves the screen as it was."""
    key = finished["tournament"]["tournament_id"]
    game = ask(meijin, "game", "list", f"--tournament={key}")["games"][0]
    last = game["ply"]
    assert f"ply 2 of {last}  " in tell(meijin, "game", "show", game["game_id"], "--ply=2")
    beyond = meijin("game", "show", game["game_id"], f"--ply={last + 1}")
    assert beyond.stderr.strip().endswith(f"game {game['game_id']} has plies 0 to {last}")
    piped = meijin("game", "show", game["game_id"], "--step")
    assert "--step needs a terminal" in piped.stderr
    words = (
        "game",
        "show",
        game["game_id"],
        "--step",
        "--ply=2",
        f"--server={guarded_server.address}",
    )
    with terminal(guarded_server.processes.folder, 40, *words) as opened:
        opened.wait_for(lambda: opened.screen.shows(f"ply 2 of {last}"))
        for keys, shown in (
            ("l", "ply 3"),
            ("g", "the empty board"),
            ("G", "wins by"),
            ("h", "ply"),
        ):
            opened.type(keys)
            opened.wait_for(partial(opened.screen.shows, shown))
        opened.type("q")
        assert opened.wait() == 0


def test_an_exported_game_is_read_back(
    meijin: Meijin, finished: dict[str, Any], guarded_server: Server
) -> None:
    """SGF on the screen and in a file: the same game as shown."""
    key = finished["tournament"]["tournament_id"]
    game = ask(meijin, "game", "list", f"--tournament={key}", "--limit=1")["games"][0]["game_id"]
    shown = ask(meijin, "game", "show", game)
    tell(meijin, "game", "export", game, "--output=game.sgf")
    text = (guarded_server.processes.folder / "game.sgf").read_text()
    assert tell(meijin, "game", "export", game).strip() == text.strip()
    record = from_sgf(text)
    assert list(record.moves) == [move["cell"] for move in shown["moves"]]
    assert (record.black, record.white) == (shown["black"], shown["white"])
    assert record.outcome is not None
    assert record.outcome.ending in {Ending.FIVE, Ending.DRAW}
    assert record.outcome.winner == record.board().winner


def test_a_selection_of_games_is_exported(
    meijin: Meijin, finished: dict[str, Any], guarded_server: Server
) -> None:
    """As records and as tables, by tournament, bot, ladder and start; all of them verify."""
    key, folder = finished["tournament"]["tournament_id"], guarded_server.processes.folder
    chosen = (f"--tournament={key}", "--bot=ada", "--since=2020-01-01", "--until=2120-01-01T00:00")
    tell(meijin, "game", "export", *chosen, "--output=chosen.sgf")
    assert "2 games, 0 wrong" in tell(meijin, "game", "verify", "chosen.sgf")
    games = ask(meijin, "game", "list", *chosen)["games"]
    assert "2 games, 0 wrong" in tell(meijin, "game", "verify", *chosen, "--quiet")
    assert "1 game, 0 wrong" in tell(meijin, "game", "verify", games[0]["game_id"])
    rows = csv.DictReader(tell(meijin, "game", "export", *chosen, "--format=csv").splitlines())
    assert [row["game_id"] for row in rows] == [game["game_id"] for game in games]
    tell(
        meijin,
        "game",
        "export",
        *chosen,
        "--format=parquet",
        "--rows=moves",
        "--output=moves.parquet",
    )
    moves = pq.read_table(folder / "moves.parquet")
    assert moves.num_rows == sum(game["ply"] for game in games)
    ladder = ask(meijin, "ladder")["ladder"]["name"]
    rated = tell(meijin, "game", "export", f"--ladder={ladder}", "--format=pos").splitlines()
    assert len(rated) >= 2
    assert tell(meijin, "game", "export", "--bot=ada", "--until=2020-01-01", "--format=json") == ""


def test_a_tournament_is_exported(
    meijin: Meijin, finished: dict[str, Any], guarded_server: Server
) -> None:
    """As a zip that is the same every time, and that is not written over by mistake."""
    key, folder = finished["tournament"]["tournament_id"], guarded_server.processes.folder
    for name in ("first.zip", "second.zip"):
        assert "written to" in tell(meijin, "tournament", "export", key, f"--output={name}")
    assert (folder / "first.zip").read_bytes() == (folder / "second.zip").read_bytes()
    again = meijin("tournament", "export", key, "--output=first.zip")
    assert (again.returncode, "first.zip exists" in again.stderr) == (1, True)
    with ZipFile(folder / "first.zip") as opened:
        manifest = json.loads(opened.read("manifest.json"))
        assert manifest["games"] == finished["tournament"]["finished_games"]
        assert len(opened.namelist()) == 2 * manifest["games"] + 3


@pytest.mark.usefixtures("ada")
def test_a_game_is_voided(meijin: Meijin) -> None:
    """It says so from then on, and its pairing is played again."""
    run = ("tournament", "run", "ada", "grace", "--rounds=1", "--time=5/move", "--unrated")
    key = ask(meijin, *run)["tournament"]["tournament_id"]
    (game,) = ask(meijin, "game", "list", f"--tournament={key}")["games"]
    told = tell(meijin, "game", "void", game["game_id"], "--reason=a wrong opening")
    assert told == f"game {game['game_id']}: void: operator (a wrong opening)\n"
    assert told.partition(": ")[2] in tell(meijin, "game", "show", game["game_id"])
    tell(meijin, "tournament", "watch", key)
    again, voided = ask(meijin, "game", "list", f"--tournament={key}")["games"]
    assert (voided["state"], again["state"]) == ("GAME_STATE_VOID", "GAME_STATE_FINISHED")
    as_json = ask(meijin, "game", "void", again["game_id"], "--reason=once more")
    assert as_json["outcome"]["detail"] == "once more"
    tell(meijin, "tournament", "watch", key)


def test_a_game_says_what_it_counts_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A repeat is not rated, and a pairing of a ladder has its reason."""
    outcome = game_pb2.Outcome(winner=game_pb2.COLOR_BLACK, ending=game_pb2.ENDING_FIVE)
    game = game_pb2.Game(state=game_pb2.GAME_STATE_FINISHED, outcome=outcome, repeat=True)
    assert state_text(game) == "black wins by five; not rated, since it repeats an earlier game"
    print_game(game_pb2.Game(outcome=outcome, pairing_reason="their order is in doubt"))
    assert "\nwhy it was paired: their order is in doubt\n" in capsys.readouterr().out


def test_a_game_is_watched_to_its_end(
    meijin: Meijin,
    guarded_server: Server,
    paused: Process,
) -> None:
    """Every move is printed once, then the board and the result."""
    made = ask(meijin, "tournament", "run", "--detach", "ada", "grace", "--rounds=1", "--seed=1")
    (game,) = ask(meijin, "game", "list", f"--tournament={made['tournament_id']}")["games"]
    server = f"--server={guarded_server.address}"
    watch = guarded_server.processes.start("watch", "game", "watch", game["game_id"], server)
    headline = f"game {game['game_id']}: {game['black']} (x, black) against {game['white']} (o)"
    eventually(lambda: headline in watch.words)
    words = ("game", "watch", game["game_id"], server)
    with terminal(guarded_server.processes.folder, 80, *words) as opened:
        opened.wait_for(lambda: opened.screen.shows(f"game {game['game_id']}: "))
        paused.send(SIGCONT)
        assert watch.wait() == 0
        assert opened.wait() == 0
    ply = ask(meijin, "game", "show", game["game_id"])["ply"]
    assert opened.screen.shows(f"ply {ply} of {ply}")
    assert [f"{place:>3}. " for place in range(1, ply + 1)] == [
        line[:5] for line in watch.words.splitlines()[1 : ply + 1]
    ]
    assert watch.words.splitlines()[-1] in {"black wins by five", "white wins by five", "draw"}


# -- faults -------------------------------------------------------------------------


def test_faults_are_shown(meijin: Meijin, finished: dict[str, Any]) -> None:
    """A voided game is an operator's fault, and its evidence says how it had ended."""
    assert finished
    run = ("tournament", "run", "ada", "grace", "--rounds=1", "--time=5/move", "--unrated")
    key = ask(meijin, *run)["tournament"]["tournament_id"]
    game = ask(meijin, "game", "list", f"--tournament={key}")["games"][0]["game_id"]
    tell(meijin, "game", "void", game, "--reason=a debug build")
    (fault,) = ask(meijin, "faults", f"--game={game}")["faults"]
    assert (fault["kind"], fault["party"]) == ("FAULT_KIND_VOIDED", "FAULT_PARTY_OPERATOR")
    assert "a debug build" in tell(meijin, "faults", "--limit=1")
    assert "  ending: five" in tell(meijin, "faults", f"--game={game}").splitlines()
    assert "no bot" in meijin("faults", "nobody").stderr
