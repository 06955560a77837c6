"""Counts the project's lines by room and by feature, and the words of its pages.

    python scripts/size.py [--markdown]

Generated code and pages, migrations, benchmarks and scripts are no part of the product. A line of code is one
that is neither blank nor of a docstring or comment.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    *("game", "proto", "programs", "store", "ladder", "server"),
    *("bots", "worker", "local", "hosting", "web", "cli"),
)
PAGES = ("docs/*.md", "README.md", "CONTRIBUTING.md", "benchmarks/README.md")
WORD = re.compile(r"\S*\w\S*")
"""Borders of tables are none."""
MADE = "<!-- Made by"
"""How a generated page begins."""
FEATURES = (
    ("hosting", "programs/|host|program"),
    ("local matches", "worker/|local/|cli/match"),
    ("engines of others", "bridge|engine|wrap"),
    ("built-in searches", "bots/(core|builtin|reference)"),
    ("SDK", "bots/"),
    ("records and openings", "game/(records|openings)|opening|record|sgf|psq|rif"),
    ("rules, boards, clocks", "game/"),
    ("ladder and statistics", "ladder|rating|standing|elo|sprt|diagnos"),
    ("webhooks", "webhook"),
    ("classes", "class"),
    ("challenges and people", "challenge|people|person|play/"),
    ("tournaments", "tournament|bracket|crosstable"),
    ("access", "access|token|owner|admin|login|limit|permission"),
    ("match, journal, log", "match|journal|move_log|writer|claims|connections"),
    ("operating", "process|metrics|tracing|backup|status|certificate|serve|settings"),
    ("the rest", ""),
)
"""Names and patterns of paths; a file belongs to the first that it matches."""


def main() -> None:
    """Print what there is."""
    files = list(_files())
    product = [file for file in files if file.parts[0] in ROOMS]
    tests = [file for file in files if file.parts[0] == "tests"]
    sizes = {file: _size(ROOT / file) for file in (*product, *tests)}
    by_room = _sums(sizes, _room)
    by_feature = _sums(sizes, _feature)
    table = _markdown if "--markdown" in sys.argv else _text
    words = [len(WORD.findall(text)) for text in _pages()]
    lines = [
        *table("room", [*by_room.items(), ("all", _total(by_room.values()))]),
        *table("feature", by_feature.items()),
        f"{sum(words):,} words in {len(words)} pages\n",
    ]
    sys.stdout.write("".join(lines))  # at once, for who reads no more than the first lines


Row = tuple[int, int, int]
"""Lines of the product, those of them that are code, and lines of tests."""


def _files() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in listed.splitlines():
        if "_pb2" not in name and "/migrations/" not in name and (ROOT / name).is_file():
            yield Path(name)


def _pages() -> Iterator[str]:
    for pattern in PAGES:
        for path in ROOT.glob(pattern):
            text = path.read_text()
            if not text.startswith(MADE):
                yield text


def _room(file: Path) -> str:
    """The room of a file; that which a test mirrors, or ``tests`` for the others'."""
    if file.parts[0] != "tests":
        return file.parts[0]
    mirrored = {"wire": "proto", "testing": "server"}.get(file.parts[1], file.parts[1])
    return mirrored if mirrored in ROOMS else "tests of the whole"


def _feature(file: Path) -> str:
    return next(name for name, pattern in FEATURES if re.search(pattern, file.as_posix()))


def _size(path: Path) -> tuple[int, int]:
    """The lines of a file, and those of them that are code."""
    text = path.read_text()
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _BLANK
        for line in range(token.start[0], token.end[0] + 1)
    }
    return text.count("\n"), len(code - set(_docstrings(ast.parse(text))))


_BLANK = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def _docstrings(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _sums(sizes: dict[Path, tuple[int, int]], key: Callable[[Path], str]) -> dict[str, Row]:
    sums: dict[str, Row] = defaultdict(lambda: (0, 0, 0))
    for file, (lines, code) in sizes.items():
        product, its_code, tests = sums[key(file)]
        if file.parts[0] == "tests":
            sums[key(file)] = product, its_code, tests + lines
        else:
            sums[key(file)] = product + lines, its_code + code, tests
    return dict(sorted(sums.items()))


def _total(rows: Iterable[Row]) -> Row:
    product, code, tests = map(sum, zip(*rows, strict=True))
    return product, code, tests


def _text(title: str, rows: Iterable[tuple[str, Row]]) -> Iterator[str]:
    yield f"{title:24}{'product':>10}{'code':>10}{'tests':>10}\n"
    for name, row in rows:
        yield f"{name:24}" + "".join(f"{number:10,}" for number in row) + "\n"
    yield "\n"


def _markdown(title: str, rows: Iterable[tuple[str, Row]]) -> Iterator[str]:
    yield f"| {title} | product | code | tests |\n|---|---:|---:|---:|\n"
    for name, row in rows:
        yield f"| {name} | " + " | ".join(f"{number:,}" for number in row) + " |\n"
    yield "\n"


if __name__ == "__main__":
    main()
