"""A ladder that is settled, over a crash of its server."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.system.processes import Processes, Server, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.system.conftest import Books

LINE_BOT = Path(__file__).parent / "line_bot.py"
SPECS = {"ada": f"{LINE_BOT}:Line", "bob": "random", "cyd": f"{LINE_BOT}:Dots"}
RULE = ("--until=0.8", "--within=50")


def test_a_settled_ladder_ends_with_a_final_run_that_verifies(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Whoever is there enters; Ada's line beats chance, and chance whoever makes no line."""
    server = Server(processes, "--open")
    books = open_books(server.database_url)
    where = f"--server={server.address}"
    for name, spec in SPECS.items():
        processes.start(name, "bot", "run", spec, f"--name={name}", where)
    eventually(lambda: server.connected_bots() == set(SPECS))
    terms = ("--variant=7x7", "--time=20/move", where)
    settling = processes.start("settle", "ladder", "settle", *RULE, *terms)
    eventually(partial(books.are_under_way, 6))
    server.process.kill(with_children=True)
    server.start()
    assert settling.wait() == 0, settling.words
    words = " ".join(settling.words.split())
    assert "the order of 3 bots sure to 80 % but for differences below 50 Elo" in words
    assert "final run of tournament 1" in words
    command = settling.words.splitlines()[-1].split()
    assert command[:4] == ["meijin", "ladder", "verify", "freestyle-7x7-classical"]
    proof = processes.run(*command[1:], f"--data={server.data}")
    assert proof.returncode == 0, proof.stderr
    assert "byte for byte" in proof.stdout
    again = processes.run("ladder", "show", "--run", command[-1], "--json", where)
    assert '"finalOf": "1"' in again.stdout or '"final_of": "1"' in again.stdout
