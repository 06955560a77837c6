"""The benchmark of the bridge measures what it says."""

import json

import pytest
from bridge import Bare, engine, main


def test_overhead_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """A few plies over the pipe and through the bridge, and no server where no games are asked."""
    main(["--plies", "20", "--games", "--json"])
    row, *others = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert others == []
    assert row["bare_us"] > 0
    assert row["added_us"] == row["bridge_us"] - row["bare_us"]
    assert row["times"] == row["bridge_us"] / row["bare_us"]


def test_engines_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine in Python plays as the one in C does."""
    answers = []
    for compiler in (True, False):
        if not compiler:
            monkeypatch.setattr("shutil.which", lambda _: None)
        with engine() as command:
            bare = Bare(command)
            bare.ask("START 15")
            answers.append([bare.ask("BEGIN"), bare.ask("TURN 1,0"), bare.ask("RESTART")])
            bare.close()
    assert answers[0] == answers[1]
