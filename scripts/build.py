"""What the package is built with beside its sources: the OpenAPI document of the JSON API."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HOUSE = Path(__file__).resolve().parent.parent
NEEDED = ("scripts", "game", "proto", "web")


class DocumentHook(BuildHookInterface[Any]):
    """Writes the document before the files are gathered, for editable installs too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatch's
        """Write it, and have it packed though git ignores it."""
        sys.path[:0] = [str(HOUSE / folder) for folder in NEEDED]
        from openapi import DOCUMENT, write_document  # noqa: PLC0415 - found by the line above

        write_document()
        build_data["artifacts"].append(f"/{DOCUMENT.relative_to(HOUSE).as_posix()}")
