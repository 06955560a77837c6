"""How the counting of openings is measured, on few games."""

from pathlib import Path

import explorer
import pytest
from explorer import KINDS, measure


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_measured(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All games are counted, and positions of them explored; nothing is left behind."""
    monkeypatch.setattr(explorer, "EXPLORED", 10)
    row = measure(kind, 60, tmp_path)
    assert row["kind"] == kind
    assert float(row["games_per_second"]) > 0
    assert 1 < float(row["rows_per_game"]) <= 13
    assert float(row["explore_ms"]) > 0
    assert not list(tmp_path.glob(f"{kind}.db"))
