"""Every mutant can be made, and there are tests to notice it."""

import pytest
from tests.mutants.runner import ROOT, Tree
from tests.mutants.table import GROUPS, Group, Mutant

MUTANTS = [(group, mutant) for group in GROUPS for mutant in group.mutants]


@pytest.mark.parametrize(("group", "mutant"), MUTANTS, ids=[each.name for _, each in MUTANTS])
def test_its_line_is_there(group: Group, mutant: Mutant) -> None:
    """Once in its room: who rewrites the line writes the mutant anew."""
    assert Tree(ROOT).place(group, mutant) is not None
    assert mutant.text != mutant.replacement
    assert all((ROOT / name).exists() for name in group.tests.split())


def test_names_are_told_apart() -> None:
    assert len({mutant.name for _, mutant in MUTANTS}) == len(MUTANTS) >= 60
