"""``python -m tests.mutants``: whether the tests notice each guard that is taken away."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.runner import Tree, Verdict
from tests.mutants.table import GROUPS


def main() -> int:
    """Run the tests of each mutant in a copy of the tree, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="of mutants, or of the folders of their rooms")
    wanted = parser.parse_args().names
    found = Counter[Verdict]()
    with TemporaryDirectory(prefix="meijin-mutants-") as folder:
        tree = Tree.copied(Path(folder))
        for group in GROUPS:
            for mutant in group.mutants:
                if not wanted or mutant.name in wanted or group.room.startswith(tuple(wanted)):
                    verdict = tree.judge(group, mutant)
                    found[verdict] += 1
                    print(f"{verdict.value:12} {mutant.name:38} {group.room}", flush=True)
    print(", ".join(f"{count} {verdict.value}" for verdict, count in found.items()) or "none such")
    return 0 if found.keys() == {Verdict.KILLED} else 1


if __name__ == "__main__":
    sys.exit(main())
