import os
from pathlib import Path

import pytest

from meijin.worker.cores import cores


def test_two_threads_of_a_core_are_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is told of one it is a core."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 3, 2, 1}, raising=False)
    for number, siblings in {1: "1-2", 2: "1-2", 3: "0,3"}.items():
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings + "\n")
    assert cores(tmp_path) == [1, 3, 4]
