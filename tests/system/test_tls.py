"""TLS between processes: `meijin certificate`, `meijin serve`, and commands by `grpcs://`."""

import re
import shutil
from signal import SIGHUP, SIGTERM

import pytest
from tests.system.processes import NO_LADDER, Process, Processes, eventually
from typer.testing import CliRunner

from meijin.cli.main import app

FILES = ("--certificate=certificates/server.pem", "--key=certificates/server-key.pem")
TRUST = {"MEIJIN_CA": "certificates/ca.pem"}


def serve(processes: Processes, *options: str) -> tuple[Process, str]:
    """A server on a free port, and its address."""
    words = ("--listen=127.0.0.1:0", "--data=data", NO_LADDER, *FILES, *options)
    process = processes.start("server", "serve", *words)
    eventually(lambda: process.has_said("is listening on") or not process.is_running)
    found = re.search(r"listening on (grpcs://\S+)", process.words)
    assert found, process.words
    return process, found[1]


@pytest.fixture(autouse=True)
def _certificate(processes: Processes) -> None:
    make_certificate(processes)


def make_certificate(processes: Processes, *words: str) -> None:
    """Have one made in this process, which need not start and import everything."""
    folder = f"--folder={processes.folder / 'certificates'}"
    CliRunner().invoke(app, ["certificate", folder, *words], catch_exceptions=False)


@pytest.mark.smoke
def test_commands_and_bots(processes: Processes) -> None:
    """An operator and two bots, with their tokens, as without TLS."""
    _, address = serve(processes)
    server = {"MEIJIN_SERVER": address, "MEIJIN_DATA": "data", **TRUST}
    for name in ("ada", "bob"):
        registered = processes.run("bot", "register", name, **server)
        assert registered.returncode == 0, registered.stderr
        token = registered.stdout.strip()
        process = processes.start(name, "bot", "run", "random", MEIJIN_TOKEN=token, **server)
        eventually(lambda bot=process: bot.has_said("connected as"))  # type: ignore[misc]
    played = processes.run("match", "ada", "bob", "--games=2", "--variant=7x7", **server)
    assert played.returncode == 0, played.stderr
    assert "faults 0 and 0" in played.stdout


def test_what_is_said_without_trust(processes: Processes) -> None:
    """One line, whatever was forgotten."""
    _, address = serve(processes, "--client-ca=certificates/ca.pem")
    plain = address.removeprefix("grpcs://")
    for server, env, advice in (
        (plain, TRUST, f"if it wants TLS, write {address}"),
        (address, TRUST, "give --client-certificate and --client-key"),
    ):
        done = processes.run("bot", "list", f"--server={server}", **env)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert advice in line
    make_certificate(processes, "--client=ada")
    client = [f"--client-{kind}=certificates/ada{end}.pem" for kind, end in PAIR]
    done = processes.run("bot", "list", f"--server={address}", *client, **TRUST)
    assert done.returncode == 0, done.stderr


PAIR = (("certificate", ""), ("key", "-key"))


def test_a_new_certificate_at_a_signal(processes: Processes) -> None:
    """SIGHUP has it loaded, and the server goes on."""
    process, address = serve(processes)
    folder = processes.folder / "certificates"
    shutil.move(folder, processes.folder / "earlier")
    make_certificate(processes)
    process.send(SIGHUP)
    eventually(lambda: process.has_said("certificate loaded", times=2))
    done = processes.run("bot", "list", f"--server={address}", **TRUST)
    assert done.returncode == 0, done.stderr
    refused = processes.run("bot", "list", f"--server={address}", MEIJIN_CA="earlier/ca.pem")
    assert "unknown authority" in refused.stderr
    assert process.stop(SIGTERM) == 0


def test_a_key_of_another_certificate(processes: Processes) -> None:
    """The server doesn't start, and says why in one line."""
    wrong = (FILES[0], "--key=certificates/ca-key.pem")
    done = processes.run("serve", "--listen=127.0.0.1:0", "--data=data", NO_LADDER, *wrong)
    assert done.returncode == 1
    *_, line = done.stderr.splitlines()
    assert line.startswith("meijin: certificates/ca-key.pem is not the key of certificates/server")
