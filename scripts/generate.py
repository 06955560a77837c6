"""Generates the Python code of the protos and the OpenAPI document, or checks that both are fresh.

python scripts/generate.py            write the generated files
python scripts/generate.py --check    write nothing; name what is stale, exit 1
"""

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from openapi import write_document

HOUSE = Path(__file__).resolve().parent.parent
ROOT = HOUSE / "proto"
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
DOCUMENT = HOUSE / "web/meijin/web/api/openapi.json"


def generate(target: Path) -> None:
    """Run protoc for every proto; only services get service code."""
    protos = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.proto"))
    services = [name for name in protos if name.endswith("_service.proto")]
    _protoc(protos, f"--python_out={target}", f"--mypy_out={target}")
    _protoc(services, f"--grpc_python_out={target}", f"--mypy_grpc_out={target}")


def generate_document(target: Path) -> None:
    """Write the OpenAPI document of the JSON API, with the protos' comments."""
    services = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*_service.proto"))
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder) / "descriptors"
        options = ("--include_imports", "--include_source_info")
        _protoc(services, *options, f"--descriptor_set_out={descriptors}")
        write_document(descriptors, target)


def _protoc(protos: list[str], *outputs: str) -> None:
    well_known = files("grpc_tools") / "_proto"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT}", f"-I{well_known}"]
    scripts = Path(sys.executable).parent
    plugins = [f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in PLUGINS]
    subprocess.run([*command, *plugins, *outputs, *protos], check=True)


PLUGINS = ("mypy", "mypy_grpc")


def _contents(root: Path) -> dict[str, str]:
    found = (path for pattern in GENERATED for path in root.rglob(pattern))
    return {str(path.relative_to(root)): path.read_text() for path in found}


def check() -> int:
    """Compare a fresh generation with what lies beside the protos."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh, kept = _contents(Path(folder)), _contents(ROOT)
    stale = sorted(name for name in fresh.keys() | kept.keys() if fresh.get(name) != kept.get(name))
    for name in stale:
        print(f"stale: proto/{name}; run `make generate`")
    if not _is_document_fresh():
        print(f"stale: {DOCUMENT.relative_to(HOUSE)}; run `make generate`")
        return 1
    return 1 if stale else 0


def _is_document_fresh() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / DOCUMENT.name
        generate_document(fresh)
        return DOCUMENT.exists() and fresh.read_text() == DOCUMENT.read_text()


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    generate(ROOT)
    generate_document(DOCUMENT)
