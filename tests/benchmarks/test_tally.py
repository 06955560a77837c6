"""What bots count, and how others read it."""

import struct
from pathlib import Path

from tally import Tally, read_tally, tally_file


def test_a_tally_is_read_while_it_is_counted(tmp_path: Path) -> None:
    """Fields have their places."""
    counts = tally_file(tmp_path)
    counts[0] += 7
    counts[4] += 9
    assert read_tally(tmp_path) == Tally(moves=7, sent_bytes=9)


def test_tallies_of_a_folder_are_added(tmp_path: Path) -> None:
    """One that holds the moves alone, and one that has just been made, among them."""
    (tmp_path / "1").write_bytes(struct.pack("=q", 3))
    (tmp_path / "2").write_bytes(struct.pack("=5q", 4, 2, 1, 100, 50))
    (tmp_path / "3").touch()
    total = read_tally(tmp_path)
    assert total == Tally(7, 2, 1, 100, 50)
    assert total - Tally(moves=4) == Tally(3, 2, 1, 100, 50)
