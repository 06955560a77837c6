"""What many bots have seen, as one row."""

from load import row_of


def test_processes_are_counted_together() -> None:
    """Rates are of the time that was given."""
    five, time = "ENDING_FIVE", "ENDING_TIME"
    crowds = [
        {"latencies_us": [1000, 3000], "endings": {five: 2}, "robbed": ["7"], "breaks": {}},
        {"latencies_us": [2000], "endings": {five: 1, time: 1}, "robbed": [], "breaks": {"X": 1}},
    ]
    row = row_of(crowds, seconds=2.0)
    assert (row["moves_per_s"], row["games_per_s"]) == (1.5, 2.0)
    assert (row["p50"], row["max"]) == (2.0, 3.0)
    assert row["endings"] == "ENDING_FIVE 3, ENDING_TIME 1"
    assert (row["robbed"], row["breaks"]) == (1, "X 1")
