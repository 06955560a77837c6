"""What browsers have added, as one row."""

from web import Windows, row_of


def test_browsers_are_measured_by_what_they_add() -> None:
    """Medians of the windows without them and with them."""
    alone = Windows([3.0, 90.0, 4.0], [1000.0, 1100.0, 10.0])
    watched = Windows([8.0, 9.0, 7.0], [900.0, 990.0, 980.0], [2000.0, 2000.0, 100.0])
    row = row_of(256, alone, watched, watchers=1000)
    assert (row["server_cpu_percent"], row["watched_cpu_percent"]) == (4.0, 8.0)
    assert row["added_cpu_percent"] == 4.0
    assert row["cpu_us_per_frame"] == 20.0
    assert row["frames_per_second"] == 2.0
    assert row["moves_ratio"] == 0.98
