"""A client in TypeScript, generated from the OpenAPI document, at a real server."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.examples.conftest import EXAMPLES, NODE
from tests.server_in_test import FIVE, play_to_five
from tests.web.conftest import SiteInTest, hosted

from meijin.web.api.routes import DOCUMENT

MODULES = EXAMPLES / "javascript" / "node_modules"
PROGRAM = Path(__file__).with_name("client.ts")
CHECKED = "--noEmit --strict --target es2022 --module nodenext --allowImportingTsExtensions"
CHECKED += " --lib es2022,dom"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program beside the types that are made of the document."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "package.json").write_text('{"type": "module"}')
    maker = MODULES / "openapi-typescript" / "bin" / "cli.js"
    subprocess.run(
        [NODE, maker, DOCUMENT, "-o", folder / "meijin.ts"], check=True, capture_output=True
    )
    return Path(shutil.copy(PROGRAM, folder))


def complaints(folder: Path, *programs: str) -> str:
    """What the compiler finds wrong with programs."""
    compiler = MODULES / "typescript" / "bin" / "tsc"
    words = [str(NODE), str(compiler), *CHECKED.split(), *programs]
    return subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True).stdout


async def test_client_reads_what_the_server_sends(site: SiteInTest, client: Path) -> None:
    """Its types hold, and the values are of them."""
    assert complaints(client.parent, client.name) == ""
    await play_to_five(await site.server.pair())
    async with hosted(site) as (_, listener):
        origin = "http://{}:{}".format(*listener.getsockname())
        run = await asyncio.create_subprocess_exec(NODE, client, origin, stdout=subprocess.PIPE)
        printed, _ = await run.communicate()
    assert run.returncode == 0
    found = json.loads(printed)
    assert found.pop("slowest") > 0
    assert found == {
        "cells": [f"{'abcde'[cell % 5]}{5 - cell // 5}" for cell in FIVE],
        "ended": "ada black bob",
        "counted": 0,
        "initial": 90.5,
        "openings": [["a1", "b2"]],
    }


WRONG = (
    ('rule: "freestyle"', 'rule: "RULE_FREESTYLE"'),
    ("initial_seconds: 90.5", 'initial: "90.5s"'),
    ('openings: [["a1", "b2"]]', 'openings: ["cAA="]'),
    ("move.raw_time_seconds", "move.rawTime"),
    ("explored.counted_games + 0", "explored.counted_games.length"),
    ('type: "game.ended"', 'type: "game_ended"'),
)


def test_what_is_spelled_otherwise_does_not_compile(client: Path) -> None:
    """Such as in protobuf's own mapping."""
    text, programs = PROGRAM.read_text(), []
    for number, (right, wrong) in enumerate(WRONG):
        assert right in text
        programs.append(f"wrong{number}.ts")
        (client.parent / programs[-1]).write_text(text.replace(right, wrong))
    found = complaints(client.parent, *programs)
    assert [each for each in programs if f"{each}(" not in found] == []
