"""Freeze a rating algorithm: its modules at a revision, as one zip that needs numpy alone.

    python scripts/freeze.py REVISION ZIP

The package in the zip has the zip's name and `_source`. Equal revisions give equal bytes.
"""

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

FIRST = "meijin.ladder.rating_table"
"""The module that computes a run; those of the ladder that it imports are frozen with it."""
RECORD_MODULES = {
    "meijin.ladder.tally": "ladder/meijin/ladder/tally.py",
    "meijin.store.ladders.games": "store/meijin/store/ladders/games.py",
    "meijin.store.ladders.runs": "store/meijin/store/ladders/runs.py",
    "meijin.store.schema": "store/meijin/store/schema/runs.py",
    "meijin.store.schema.ids": "store/meijin/store/schema/ids.py",
    "meijin.store.schema.ladders": "store/meijin/store/schema/ladders.py",
}
"""What else it imports: of these the definitions that it uses are frozen, as plain records."""
RECORDS = (
    *("BotVersionId", "ScoredGame", "START", "VersionState", "last_days_of", "Posterior"),
    *("GoodnessFinding", "PairFinding", "TripleFinding", "DriftFinding", "ChangeFinding"),
    *("RunDiagnosis", "FitSummary", "PriorSensitivity", "RunParameters", "RatingRun"),
    *("RatingLine", "NewRun"),
)
"""In the order of their definitions; a revision may lack some."""
HEAD = """\
\"\"\"The records of a run.\"\"\"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NewType, TypeAlias

Snapshot = Any
"""
IMPORT = re.compile(r"^from (meijin\.(?:ladder|store)[\w.]*) import", re.MULTILINE)
EPOCH = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    revision, target = sys.argv[1], Path(sys.argv[2])
    package = f"{target.stem}_source"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, source in sorted(frozen(revision, package).items()):
            archive.writestr(zipfile.ZipInfo(f"{package}/{path}", EPOCH), source)


def frozen(revision: str, package: str) -> dict[str, str]:
    """The files of the package by their paths in it."""
    files, waiting = {"__init__.py": "", "records.py": records(revision)}, [FIRST]
    while waiting:
        path = waiting.pop().removeprefix("meijin.ladder.").replace(".", "/")
        for end in (".py", "/__init__.py"):
            found = source_of(revision, f"ladder/meijin/ladder/{path}{end}")
            if found is None or path + end in files:
                continue
            files[path + end] = IMPORT.sub(lambda each: renamed(each[1], package), found)
            waiting += wanted(found)
            waiting += [path.rpartition("/")[0]] if "/" in path else []
    return files


def wanted(source: str) -> Iterator[str]:
    """The modules of the ladder that a module imports, but for those of records."""
    for node in ast.walk(ast.parse(source)):
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if module and module.startswith("meijin.ladder") and module not in RECORD_MODULES:
            assert isinstance(node, ast.ImportFrom)
            yield module
            yield from (f"{module}.{each.name}" for each in node.names)


def renamed(module: str, package: str) -> str:
    parts = "records" if module in RECORD_MODULES else module.removeprefix("meijin.ladder.")
    return f"from meijin.ladder.algorithms.{package}.{parts} import"


def source_of(revision: str, path: str) -> str | None:
    command = ["git", "show", f"{revision}:{path}"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return shown.stdout if shown.returncode == 0 else None


def records(revision: str) -> str:
    """The definitions of records at a revision, without their tables."""
    found: dict[str, str] = {"START": "START = 1500.0"}
    for path in RECORD_MODULES.values():
        source = source_of(revision, path) or ""
        for node in ast.parse(source).body:
            if name := defined(node):
                found.setdefault(name, definition(node, source))
    parts = [found[name] for name in RECORDS if name in found]
    return "\n\n".join([HEAD, *parts]).replace("elo.START", "START") + "\n"


def defined(node: ast.stmt) -> str:
    """The name that a statement defines; empty for others."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return targets[0].id if isinstance(targets[0], ast.Name) else ""


def definition(node: ast.stmt, source: str) -> str:
    """A statement as it is written, and of a table's record the names of its fields."""
    if isinstance(node, ast.ClassDef) and node.bases:
        base = ast.unparse(node.bases[0])
        head = f"class {node.name}{'' if base == 'Record' else f'({base})'}:"
        names = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
        fields = (f"    {ast.unparse(name)}: Any = None" for name in names)
        return "\n".join(["@dataclass(frozen=True, kw_only=True)", head, *fields])
    decorators = getattr(node, "decorator_list", [])
    first = min(each.lineno for each in (node, *decorators))
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno])


if __name__ == "__main__":
    main()
