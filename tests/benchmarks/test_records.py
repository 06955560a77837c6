"""The benchmark of records runs."""

import sys

import pytest
import records


def test_every_format_and_export_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line each, with a rate above nothing."""
    monkeypatch.setattr(sys, "argv", ["records.py", "--games=3"])
    records.main()
    lines = [line.split("|")[1:4] for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(lines) == 4 * 2 + 1 + 4 + 1
    assert all(float(rate.replace(",", "")) > 0 for _, rate, _ in lines)
