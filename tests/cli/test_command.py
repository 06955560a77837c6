from itertools import pairwise

import pytest
from typer.testing import CliRunner

from meijin.cli.main import app


@pytest.mark.parametrize("columns", [80, 120])
def test_help_is_wrapped_where_the_screen_ends(columns: int) -> None:
    """Each line of a paragraph has no room for the first word of the next."""
    asked = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": str(columns)})
    text = asked.output.partition("Every option")[2].partition("╭")[0]
    lines = [line.strip() for line in f"Every option{text}".splitlines() if line.strip()]
    assert len(lines) > 1
    for line, following in pairwise(lines):
        assert len(line) + 1 + len(following.split()[0]) > columns - 2
