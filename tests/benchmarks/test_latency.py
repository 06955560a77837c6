"""Latency of a ply beside a bare echo, as rows."""

import json
from typing import Any

import latency
import pytest
from arena_process import CHECKOUT
from latency import Measured, Slice, main


def measured(*slices: Slice) -> Measured:
    """A server with slices that were taken before."""
    unasked: Any = None
    return Measured(unasked, unasked, list(slices))


def test_slices_are_one_sample() -> None:
    """Medians and processor time are of all plies."""
    echo = measured(Slice([0.001, 0.001], 0.0))
    found = measured(Slice([0.002, 0.003], 0.001), Slice([0.003, 0.009], 0.003))
    row = found.row("power", echo)
    assert (row["p50_us"], row["ratio_p50"], row["added_p50_us"]) == (3000, 3, 2000)
    assert row["cpu_us"] == 1000


def test_checkouts_are_compared_slice_by_slice() -> None:
    """A slow minute slows both, and leaves the ratio alone."""
    before = measured(Slice([0.004], 0.0), Slice([0.4], 0.0))
    now = measured(Slice([0.002], 0.0), Slice([0.2], 0.0))
    row = now.compared("power", before)
    assert (row["p50_ratio"], row["p50_ratio_low"], row["p50_ratio_high"]) == (0.5, 0.5, 0.5)


def test_all_servers_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An echo, and a server of each checkout."""
    monkeypatch.setattr(latency, "DURABILITIES", ("process",))
    main(["--plies", "40", "--against", str(CHECKOUT), "--json"])
    *rows, compared = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert [row["server"] for row in rows] == [
        "echo",
        "arena, durability process, before",
        "arena, durability process",
    ]
    assert all(row["p99_us"] >= row["p50_us"] > 0 for row in rows)
    assert compared["p50_ratio_low"] <= compared["p50_ratio"] <= compared["p50_ratio_high"]
