"""Rates of the arena beside a bare echo, on small loads."""

import json
from dataclasses import replace

import arbitration
import echo
import pytest
from arbitration import COMPARED, Load, Measured, Run, main
from arena_process import CHECKOUT
from echo import Batch, Echoed
from processor_time import ServerTime
from tally import Tally

TALLY = Tally(moves=2000, messages=100, sampled=2, received_bytes=3000, sent_bytes=700)
RUN = Run(
    seconds=2.0,
    server=ServerTime(0.05, 0.02, 0.01, 0.0, 0.1),
    bots_cpu=0.04,
    tally=TALLY,
    games=10,
    wire_bytes=200_000,
    stored_bytes=4096,
)


def test_runs_are_told_as_medians() -> None:
    """Rates by the bots' count, and processor time by move."""
    runs = [RUN, replace(RUN, seconds=1.0), replace(RUN, seconds=4.0)]
    echoes = [Echoed(10_000, 3.0), Echoed(10_000, 2.0), Echoed(1_000, 4.0)]
    found = Measured(Load(64, 2, "power", 2.0), runs, echoes, [])
    rates, times = found.rates(), found.times()
    assert (rates["games"], rates["moves_per_second"], rates["of_echo"]) == (64, 1000, 0.2)
    assert (rates["moves_per_message"], rates["bytes_per_move"]) == (20, 100)
    assert (times["server_us"], times["loop_us"], times["worker_us"]) == (40, 25, 50)
    assert (times["server_cores"], times["bots_cores"], times["echo_us"]) == (0.04, 0.02, 3)


def test_checkouts_are_compared_run_by_run() -> None:
    """Ratios are of neighbours, so that a slow minute does not count."""
    runs = [RUN, replace(RUN, seconds=20.0)]
    others = [replace(run, seconds=2 * run.seconds) for run in runs]
    name, _, of = COMPARED[0]
    row = Measured(Load(64, 2, "power", 2.0), runs, [], others).compared(name, of)
    assert (row["rate_ratio"], row["rate_ratio_low"], row["rate_ratio_high"]) == (2, 2, 2)
    assert (row["rate_before"], row["rate_now"]) == (275, 550)


def test_a_batch_is_the_mean_message() -> None:
    """Bytes are those of the messages that were sized."""
    assert Batch.of(TALLY) == Batch(20.0, 350, 1500)
    assert Batch.of(Tally()) == Batch(0.0, 0, 0)


def test_a_load_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three bots on six games, this checkout against itself, and the echo beside it."""
    monkeypatch.setattr(arbitration, "WARM_UP", 0.3)
    monkeypatch.setattr(echo, "WARM_UP", 0.0)
    words = ["--games", "6", "--bots", "3", "--durability", "process", "--seconds", "0.3"]
    main([*words, "--echo-seconds", "0.2", "--against", str(CHECKOUT), "--json"])
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["results"]
    assert (row["games"], row["bots"], row["durability"]) == (6, 3, "process")
    assert 1 <= row["moves_per_message"] <= 6
    assert row["loop_us"] > row["writer_us"] > 0
    assert row["echo_per_second"] > 0
    assert row["rate_ratio"] == pytest.approx(row["rate_now"] / row["rate_before"], rel=0.01)
