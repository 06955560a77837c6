"""What `meijin` says when it can't do what it is told: one line, status 1."""

import os
import signal
import sys
from subprocess import CompletedProcess

import pytest
from tests.processes import environment
from tests.system.server import Server

from meijin.cli.main import main

POSTGRESQL = "--database=postgresql://meijin:secret@db/meijin"
HIDDEN = "postgresql://meijin:***@db/meijin"

MISTAKES = [
    ("bot run nonesuch", 'no bot "nonesuch"; there are random'),
    ("bot run rondom", 'did you mean "random"?'),
    ("bot run missing.py", "no file missing.py"),
    ("bot run random -o colour=red", 'no option "colour"'),
    ("bot run random", "a token is needed: register the bot, and set MEIJIN_TOKEN to its token"),
    ("bot run random --token=guess", "unknown token: register the bot"),
    ("bot register ada", 'a bot "ada" exists; take another name'),
    ("bot register ada --token=guess", "unknown token: give a token with --token or MEIJIN_OPER"),
    (
        "bot register ada --data=none",
        "a token is needed, and there is no none/operator.token: give",
    ),
    ("bot register ghost --rotate", 'no bot "ghost"'),
    ("bot new no/name", "is no bot name"),
    ("bot new taken --path=taken.py", "taken.py exists"),
    ("bot new lost --path=no/such/folder.py", "can't write no/such/folder.py"),
    ("bot list --server=127.0.0.1:1", "no server answers at 127.0.0.1:1; start one with `meijin"),
    ("bot register new --save=taken.py", "taken.py exists; give another file"),
    ("bot register new --save=no/such/file", "can't write no/such/file: No such file"),
    ("match ada ghost", 'no bot "ghost"'),
    ("tournament run --detach ada grace --token=guess", "give a token"),
    ("match random missing.py --local", "no file missing.py"),
    ("match random alphabeta --local --time=0.001/move", "alphabeta needs 0.02 s a move"),
    ("match ada grace --rated --first-time=9", "--rated games have one clock"),
    ("match ada grace --rated --resign=500,3", "--rated games have one clock"),
    ("match ada grace --sprt=0,10 --games=5", "--games 5 is odd; with --sprt games come in pairs"),
    ("tournament run --detach ada grace --time=soon", "soon"),
    ("tournament run --detach ada grace --time=0", "the time on the clock has to be more than 0"),
    (
        "tournament run --detach ada grace --rounds=2 --games=2",
        "another word for --rounds; give one",
    ),
    ("tournament run --detach ada grace --openings=missing.txt", "can't use missing.txt"),
    ("tournament run --detach ada grace --openings=taken.py", "taken.py: line 1: "),
    ("tournament show 999", "no tournament 999"),
    ("tournament show first", "first"),
    ("tournament resume 999", "no tournament 999"),
    ("ladder freestyle-99x99", "no ladder"),
    ("ladder --matrix --history", "not both"),
    ("ladder --matrix --run=3", "--run is for the standings"),
    ("ladder --plot=x.png", "--plot needs --history"),
    ("ladder --history --plot=x.xls", "ends in .png"),
    ("ladder compare ada ghost", "there is no ladder yet"),
    ("ladder anchors", "one to three bots, or give --none"),
    ("ladder anchors ghost", "there is no ladder yet"),
    ("ladder verify", "there is no ladder yet"),
    ("ladder verify --data=nowhere", "nowhere/meijin.db; give the server's folder with --data"),
    ("game export 999", "no game 999"),
    ("game export", "name a game, or choose with --tournament"),
    ("game export 1 --bot=ada", "not both"),
    ("game export --bot=ada --format=psq", "psq holds one game; name it"),
    ("game export --bot=ada --since=soon", '--since: "soon" is no date'),
    ("game export --ladder=ghost", "there is no ladder yet"),
    ("game export --tournament=x", "tournament_id"),
    ("game verify 999", "no game 999"),
    ("game verify", "name files or games, or choose"),
    ("game verify missing.sgf", "can't use missing.sgf: No such file"),
    ("tournament export 999 --output=t.zip", "no tournament 999"),
    ("game void 999 --reason=wrong", "no game 999"),
    ("game void 999 --reason=", "reason: say in a sentence"),
    ("game void 999 --reason=wrong --token=guess", "give a token"),
    ("game list --bot=ghost", 'no bot "ghost"'),
    ("token create bot", "name the bot"),
    ("learn tree --name=s3", 'no tree "s3"; there are s1, s2, s4'),
    ("learn gomoku --depth=9", "give --depth 1 to 4"),
    ("serve --durability=maybe", "durability"),
    ("serve --grace=-1", "grace: it must be at least 0, not -1"),
    ("serve --backup-every=0", "backup_every: it must be more than 0, not 0.0"),
    ("serve --listen=nowhere --port=1", "--port is short for --listen; give one"),
    ("serve --port=99999", "listen: it must be HOST:PORT, with a port up"),
    ("serve --listen=nowhere", "listen: it must be HOST:PORT, with a port up"),
    ("serve --data=taken.py", "can't use taken.py: it is a file, and no folder"),
    ("demo --data=taken.py", "taken.py is a file; give a folder with --data"),
    ("demo --data=/proc/folder", "can't use /proc/folder: "),
    ("match random random --local --data=taken.py", "can't use taken.py: it is a file, and no"),
    ("serve --data=taken.py/folder", "can't use taken.py/folder: "),
    ("backup --to=no/such/folder.db", "there is no folder no/such"),
    ("serve --env-file=missing.env", "there is no missing.env"),
    ("serve --env-file=wrong.env", "no setting MEIJIN_GRAC; did you mean MEIJIN_GRACE?"),
    ("serve --listen=0.0.0.0:0 --data=elsewhere", "meijin: other machines reach 0.0.0.0:0, and"),
    ("serve --listen=[::]:0 --plaintext --open", "leave --open out"),
    ("serve --certificate=c.pem --key=k.pem --data=elsewhere", "can't read c.pem: No such file"),
    ("bot list --server=grpcs://localhost --ca=missing.pem", "can't read missing.pem: No such"),
    ("bot register ada --server=10.0.0.1 --token=guess", "write grpcs://10.0.0.1:7464, or allow"),
    ("certificate grpcs://arena", '"grpcs://arena" is no name of a host'),
    ("certificate arena --client=ada", "--client for a client's; give one"),
    ("certificate --folder=taken.py/folder", "can't write taken.py/folder: "),
    ("serve --database=sqlite:// --data=elsewhere", "an SQLite database has to be a file"),
    ("serve --database=oracle://host/name --data=elsewhere", "oracle"),
    ("serve --database=postgresql+psycopg://127.0.0.1:1/none --data=elsewhere", "database"),
    (
        f"serve --backup-every=60 {POSTGRESQL}",
        "the database is PostgreSQL's; have a timer run pg_dump",
    ),
    ("bot upload nowhere", "can't use nowhere: No such file"),
    ("bot program list", "this server hosts no programs"),
    ("bot new ada --dir=taken.py", "taken.py exists, and is no folder"),
    ("bot new ada --dir=one --path=ada.py", "--path is a file, and --dir a folder; give one"),
    ("serve --database=sqlite:///taken.py --data=elsewhere", "taken.py is damaged (file is not a"),
    ("serve --database=sqlite:///data --data=elsewhere", "data is a folder"),
    ("serve --database=sqlite:///none/meijin.db --data=elsewhere", "none/meijin.db.lock"),
    ("restore none.db", "there is no none.db; name a backup, such as one in "),
    ("restore taken.py --data=elsewhere", "taken.py is damaged: file is not a database"),
    (
        f"restore taken.py {POSTGRESQL}",
        f"pg_restore --clean --if-exists --dbname={HIDDEN} meijin.dump",
    ),
    (f"backup {POSTGRESQL}", f"run: pg_dump --format=custom --file=meijin.dump {HIDDEN}"),
    ("bot wrap -- ./nowhere", "no program ./nowhere; give its path, such as ./nowhere"),
    ("bot wrap -- false", "the engine has ended with status 1; its protocol is unknown"),
    ("worker --database=sqlite:///unmade.db --redis=redis://127.0.0.1:1", "start the server first"),
    ("worker --database=sqlite:///unmade.db --redis=nowhere", "redis_url: it must begin with"),
    ("worker --database=sqlite:///unmade.db --redis=redis://127.0.0.1:1 --sweep=0", "sweep: "),
]

FIRSTS = {command.split()[0]: command for command, _ in reversed(MISTAKES)}.values()


def needs_a_process(command: str) -> bool:
    """Whether it lasts, or changes the process; of all kinds of commands the first has one too."""
    lasts = command.startswith(("bot run", "serve", "worker")) or "--local" in command
    return lasts or command in FIRSTS


@pytest.fixture(scope="module")
def server(guarded_server: Server) -> Server:
    (guarded_server.folder / "taken.py").write_text("not an opening\n")
    (guarded_server.folder / "wrong.env").write_text("MEIJIN_GRAC=60\n")
    for bot in ("ada", "grace"):
        guarded_server.tell("bot", "register", bot)
    return guarded_server


def run_here(
    server: Server, words: list[str], patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> "CompletedProcess[str]":
    """Run a command in this process, which need not start and import everything."""
    wanted = environment(server.folder, server.env)
    patch.chdir(server.folder)
    for name in set(os.environ) - set(wanted):
        patch.delenv(name)
    for name, value in wanted.items():
        patch.setenv(name, value)
    patch.setattr(sys, "argv", ["meijin", *words])
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert isinstance(ended.value.code, int)
    return CompletedProcess(words, ended.value.code, *capsys.readouterr())


@pytest.mark.parametrize(("command", "advice"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_a_mistake_is_answered_in_one_line(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    advice: str,
) -> None:
    """The line names what is wrong or what to do; a bot may have told of a second attempt."""
    words = command.split()
    if needs_a_process(command):
        done = server.run(*words)
    else:
        done = run_here(server, words, monkeypatch, capsys)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    *attempts, line = done.stderr.splitlines()
    assert all("reconnecting in " in attempt for attempt in attempts), attempts
    assert line.startswith("meijin: ")
    assert advice in line


def test_a_mistyped_database_is_not_made(server: Server) -> None:
    """A worker looks for the server's, and makes none."""
    server.refusal("worker", "--database=sqlite:///typo.db", "--redis=redis://127.0.0.1:1")
    assert not (server.folder / "typo.db").exists()
