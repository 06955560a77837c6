"""Generates code from the protos, and pages from the code, or checks that all of it is fresh.

python scripts/generate.py            write the generated files
python scripts/generate.py --check    write nothing; name what is stale, exit 1
"""

import sys
import tempfile
from pathlib import Path

from openapi import PROTOS, protoc, write_document
from reference import columns_page, commands_page, settings_page

HOUSE = Path(__file__).resolve().parent.parent
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
PAGES = {
    "docs/columns.md": columns_page,
    "docs/commands.md": commands_page,
    "docs/settings.md": settings_page,
}


def generate(target: Path) -> None:
    """Run protoc for every proto; only services get service code."""
    protos = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    services = [name for name in protos if name.endswith("_service.proto")]
    _protoc(protos, f"--python_out={target}", f"--mypy_out={target}")
    _protoc(services, f"--grpc_python_out={target}", f"--mypy_grpc_out={target}")


def _protoc(protos: list[str], *outputs: str) -> None:
    scripts = Path(sys.executable).parent
    plugins = [f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in PLUGINS]
    protoc(protos, *plugins, *outputs)


PLUGINS = ("mypy", "mypy_grpc")


def _contents(root: Path) -> dict[str, str]:
    found = (path for pattern in GENERATED for path in root.rglob(pattern))
    return {str(path.relative_to(root)): path.read_text() for path in found}


def check() -> int:
    """Compare a fresh generation with what is kept; the OpenAPI document is written anew."""
    write_document()
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh, kept = _contents(Path(folder)), _contents(PROTOS)
    names = sorted(fresh.keys() | kept.keys())
    stale = [f"proto/{name}" for name in names if fresh.get(name) != kept.get(name)]
    stale += [name for name, page in PAGES.items() if (HOUSE / name).read_text() != page()]
    for name in stale:
        print(f"stale: {name}; run `make generate`")
    return 1 if stale else 0


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    generate(PROTOS)
    write_document()
    for name, page in PAGES.items():
        (HOUSE / name).write_text(page())
