"""TLS between processes: `meijin certificate`, `meijin serve`, and commands by `grpcs://`."""

import re
import shutil
from signal import SIGHUP

import pytest
from tests.processes import Commands, Process, Processes
from tests.system.server import NO_LADDER
from typer.testing import CliRunner

from meijin.cli.main import app

FILES = ("--certificate=certificates/server.pem", "--key=certificates/server-key.pem")
CLIENT = [
    f"--client-{kind}=certificates/ada{end}.pem"
    for kind, end in (("certificate", ""), ("key", "-key"))
]


def serve(processes: Processes, *options: str) -> tuple[Process, str]:
    words = ("--listen=127.0.0.1:0", "--data=data", NO_LADDER, *FILES, *options)
    process = processes.start("server", "serve", *words)
    process.wait_for("is listening on")
    (address,) = re.findall(r"listening on (grpcs://\S+)", process.words)
    return process, address


def trusting(processes: Processes, address: str) -> Commands:
    """Commands of who trusts the authority that was made."""
    return Commands(
        processes.folder,
        MEIJIN_SERVER=address,
        MEIJIN_DATA="data",
        MEIJIN_CA="certificates/ca.pem",
    )


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
    operator = trusting(processes, address)
    operator.tell("healthcheck", MEIJIN_DATA="nowhere")  # by who has no token
    for name in ("ada", "bob"):
        token = operator.tell("bot", "register", name).strip()
        process = processes.start(name, "bot", "run", "random", MEIJIN_TOKEN=token, **operator.env)
        process.wait_for("connected as")
    played = operator.tell("match", "ada", "bob", "--games=2", "--variant=7x7")
    assert "faults 0 and 0" in played


def test_what_is_said_without_trust(processes: Processes) -> None:
    """One line, whatever was forgotten."""
    _, address = serve(processes, "--client-ca=certificates/ca.pem")
    plain = address.removeprefix("grpcs://")
    for server, advice in (
        (plain, f"if it wants TLS, write {address}"),
        (address, "give --client-certificate and --client-key"),
    ):
        assert advice in trusting(processes, server).refusal("bot", "list")
    make_certificate(processes, "--client=ada")
    trusting(processes, address).tell("bot", "list", *CLIENT)


def test_a_new_certificate_at_a_signal(processes: Processes) -> None:
    """SIGHUP has it loaded, and the server goes on."""
    process, address = serve(processes)
    shutil.move(processes.folder / "certificates", processes.folder / "earlier")
    make_certificate(processes)
    process.send(SIGHUP)
    process.wait_for("certificate loaded", times=2)
    client = trusting(processes, address)
    client.tell("bot", "list")
    assert "unknown authority" in client.refusal("bot", "list", MEIJIN_CA="earlier/ca.pem")
    assert process.stop() == 0
