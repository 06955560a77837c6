"""The benchmark of the bridge measures what it says."""

import json

import pytest
from bridge import main


def test_overhead_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """A few plies over the pipe and through the bridge, and no server where no games are asked."""
    main(["--plies", "20", "--games", "--json"])
    row, *others = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert others == []
    assert row["bare_us"] > 0
    assert row["added_us"] == row["bridge_us"] - row["bare_us"]
    assert row["times"] == row["bridge_us"] / row["bare_us"]
