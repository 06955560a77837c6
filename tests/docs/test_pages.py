"""What the pages say is what the code has: links, tables, numbers and names."""

import ast
import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from google.protobuf.descriptor import FieldDescriptor
from tests.authority import AuthorityFiles
from tests.cli.tournament.test_bracket import DRAWN
from tests.docs.pages import PAGES, ROOT, page
from tests.server_in_test import open_server

import meijin.bots
from meijin.bots import Position, load_bot
from meijin.bots.builtin.random_bot import RandomBot
from meijin.bots.sdk.runner import ignore_idle_wakeups
from meijin.game import Board, Color, TimeControl
from meijin.game.arbiter import allowance, flag, moment
from meijin.server.api.calls import limits
from meijin.server.api.services import analysis
from meijin.server.api.streams import play as play_service
from meijin.server.connections import limits as connection_limits
from meijin.server.errors import MeijinError
from meijin.server.match import actions, lobby, wire
from meijin.server.match.live import evaluations, session
from meijin.server.settings import Settings
from meijin.store.backup import backup_name
from meijin.testing.settings import settings_in
from meijin.v1 import play_service_pb2
from meijin.v1.tournament_service_pb2 import TournamentSettings
from meijin.wire.contract import BACKUP_FOLDER, BOT_NAME
from meijin.wire.formats import format_field, format_names


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve(name: str) -> None:
    """Every link and picture of the repository is there, and so is the heading in it."""
    text = page(name).text
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
    for target in targets:
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), f"{name} links to {target}"
        assert not anchor or anchor in set(anchors(file)), f"{name} links to {target}"


def anchors(file: Path) -> Iterator[str]:
    if file.suffix == ".svg":
        yield from re.findall(r'\bid="([^"]+)"', file.read_text())
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_a_form(name: str) -> None:
    """Contents name all sections in their order; prose is at most 100 characters wide."""
    text = page(name).text
    listed = re.findall(r"^- \[(.+)\]\(#", text, re.MULTILINE)
    assert not listed or listed == re.findall(r"^## (.+)$", text, re.MULTILINE)
    for line in text.splitlines():
        assert len(line) <= 100 or line.startswith(("|", "$ ")), line


@pytest.mark.parametrize("name", PAGES)
def test_files_in_code_exist(name: str) -> None:
    """Paths, modules by room and name, and the page's own programs."""
    found = [path for kind in ("py", "proto") for path in ROOT.glob(f"[!.]*/**/*.{kind}")]
    files = [str(path.relative_to(ROOT)) for path in found]
    files += [file.replace("meijin/", "", 1) for file in files]
    files += [program.title for program in page(name).programs]
    text = page(name).text
    for path in re.findall(r"`((?:benchmarks|scripts|tests|docs|proto)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"`([\w/]+\.(?:py|proto))`", text):
        assert any(f"/{file}".endswith(f"/{path}") for file in files), path


@pytest.mark.parametrize("name", [*PAGES, "Dockerfile", "docker-compose.yml"])
def test_variables_are_known(name: str) -> None:
    """Every MEIJIN_ variable that a page names is a setting, or is read by the code."""
    read = "".join(path.read_text() for path in ROOT.glob("[!.dt]*/meijin/**/*.py"))
    known = {f"MEIJIN_{field.upper()}" for field in Settings.model_fields}
    known |= set(re.findall(r"\bMEIJIN_[A-Z_]+", read))
    if name in {"docker-compose.yml", "docs/operating.md"}:
        known |= {"MEIJIN_PORT", "MEIJIN_WEB_PORT", "MEIJIN_HOST"}  # of the compose file itself
    assert set(re.findall(r"\bMEIJIN_[A-Z_]+", (ROOT / name).read_text())) <= known


def test_the_bot_wins(tmp_path: Path) -> None:
    """The README's bot, of twelve lines, beats random 20 of 20, with either colour."""
    program = page("README.md").programs[0]
    assert len(program.text.splitlines()) == 12
    (tmp_path / program.title).write_text(program.text)
    bot = load_bot(str(tmp_path / program.title))
    control = TimeControl.parse("60")
    for seed in range(20):
        board, players = Board(), [bot, RandomBot(seed=seed)]
        if seed % 2:
            players.reverse()
        while not board.is_over:
            player = players[board.ply % 2]
            cell = player.choose(Position(board.copy(), control))
            assert isinstance(cell, int)
            board.play(cell)
        assert board.winner is not None
        assert players[0 if board.winner is Color.BLACK else 1] is bot


def test_bracket_is_as_drawn() -> None:
    """A knockout is shown as the code shows it."""
    assert f"\n{DRAWN}\n" in page("docs/tournaments.md").text


def test_words_are_found_where_the_page_says() -> None:
    """Each word of the glossary stands in a name or in a docstring's first line of its module."""
    for word, _, place in page("docs/architecture.md").table("## Words"):
        room, _, rest = place.strip("`").partition("/")
        tree = ast.parse((ROOT / room / "meijin" / room / rest).read_text())
        assert _plain(word) in _plain("".join(_words(tree))), f"{word}: {place}"


def _words(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines, and the first lines of its docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield getattr(node, "name", "")
            yield (ast.get_docstring(node) or "").partition("\n")[0]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


async def test_metrics_are_listed(tmp_path: Path) -> None:
    """Every metric of ours is in the table with its type, and no other."""
    rows = page("docs/monitoring.md").table("## Metrics")
    told = {row[0].strip("`").removesuffix("_total"): row[1] for row in rows}
    assert told == await metrics_of_a_server(tmp_path)


async def metrics_of_a_server(folder: Path) -> dict[str, str]:
    """The names and types of a server's own metrics, once everything has been looked at."""
    ignore_idle_wakeups()
    taken = folder / BACKUP_FOLDER / backup_name(datetime.now(UTC))
    taken.parent.mkdir()
    taken.touch()
    certified = AuthorityFiles(folder).server()
    settings = settings_in(folder, backup_every=timedelta(days=1), **certified)
    async with open_server(settings) as server:
        registry = server.app.registry()
        await server.app.ladders.look()
        families = [family for family in registry.collect() if family.name.startswith("meijin")]
    kinds = {family.name: family.type for family in families}
    del kinds["meijin_build"]
    return kinds | {"meijin_build_info": "gauge", "meijin_refresh_jobs_queued": "gauge"}


def test_log_events_exist() -> None:
    """Every event that operators are told to look for is logged somewhere."""
    source = "".join(
        path.read_text()
        for folder in ("server/meijin/server", "ladder/meijin/ladder", "hosting/meijin/hosting")
        for path in (ROOT / folder).rglob("*.py")
    )
    cells = [row[0] for row in page("docs/monitoring.md").table("## The log")]
    runbooks = re.sub(r"\s+", " ", page("docs/runbooks.md").text)
    events = re.findall(r"`([^`]+)`", " ".join(cells))
    for event in events + re.findall(r"log lines? `([^`]+)`", runbooks):
        assert f'"{event}"' in source, event


def test_statuses() -> None:
    """Every status with a reason is one that the server gives."""
    kinds: list[type[MeijinError]] = [MeijinError, *subclasses(MeijinError)]
    given = {(kind.code.name, kind.reason) for kind in kinds}
    rows = page("docs/protocol.md").table("## How a stream ends")
    assert {(row[0].strip("`"), row[1].strip("`")) for row in rows if row[1]} <= given


def subclasses(kind: type[MeijinError]) -> Iterator[type[MeijinError]]:
    for found in kind.__subclasses__():
        yield found
        yield from subclasses(found)


def test_limits() -> None:
    """The numbers are those of the code."""
    settings, second = Settings.model_construct(), moment.NS_PER_SECOND
    wait = limits.LONGEST_WAIT.total_seconds()
    rate, changes = play_service.MESSAGE_RATE, limits.CHANGE_RATE
    expected: dict[str, tuple[float, ...]] = {
        "time for the hello": (play_service.HELLO_TIMEOUT.total_seconds(),),
        "size of a bot's message": (settings.max_message_bytes / 1024,),
        "actions without effect on one stream": (settings.max_notices,),
        "actions in one message": (session.SPARE_ACTIONS,),
        "starts, ends and turns in one message": (session.MAX_EVENTS,),
        "evaluations outstanding on one stream": (
            evaluations.MAX_OUTSTANDING,
            session.SPARE_ACTIONS,
        ),
        "positions of one `Evaluate`": (analysis.MAX_POSITIONS,),
        "time of one evaluation": (analysis.LONGEST_TIME.total_seconds(),),
        "calls of `Evaluate` at once": (limits.EVALUATIONS_OF_AN_ADDRESS, limits.EVALUATIONS),
        "messages without effect": (
            rate.per_second,
            rate.burst,
            play_service.MAX_THROTTLING.total_seconds(),
        ),
        "streams that take another's place": (lobby.REPLACEMENT_RATE.burst,),
        "streams of one bot": (limits.STREAMS_OF_A_BOT,),
        "new connections of one address": (
            settings.connections_per_second,
            connection_limits.BURST_SECONDS * settings.connections_per_second,
        ),
        "streams of one address": (settings.max_streams,),
        "watches of one address": (settings.max_watchers,),
        "hellos of one address": (*_rate(settings.hellos_per_second), wait),
        "requests of one address": (
            *_rate(settings.requests_per_second),
            wait,
            limits.REQUESTS_AT_ONCE,
        ),
        "changes of one address": (changes.per_second, changes.burst),
        "wrong tokens of one address": (settings.max_failed_sign_ins,),
        "suspension": (limits.SUSPENSION.total_seconds(),),
        "time for the bot to read a message": (settings.write_timeout.total_seconds(),),
        "grace in one game": (settings.grace.total_seconds(),),
        "margin of a move": (settings.margin.total_seconds(), allowance.MARGINS_PER_GAME),
        "lag taken off, as a [share](#what-can-be-gained) of the time control": (
            allowance.LAG_PER_MOVE_NS / second,
            allowance.LAG_PER_GAME_NS / second,
        ),
        "patience for a ping before a flag falls": (flag.PING_PATIENCE_NS / second,),
        "text of a `Failure`": (actions.MAX_FAILURE,),
        "version label": (wire.MAX_LABEL,),
        "digest": (wire.MAX_DIGEST,),
    }
    told = {row[0]: row[1] for row in page("docs/protocol.md").table("## Limits")}
    numbers = {
        name: [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*\b", told[name])]
        for name in expected
    }
    assert {name: tuple(some[: len(expected[name])]) for name, some in numbers.items()} == expected
    longest = int(re.findall(r"1 to (\d+)", told["bot name"])[0])
    assert BOT_NAME.fullmatch("a" * longest)
    assert not BOT_NAME.fullmatch("a" * (longest + 1))


def _rate(per_second: int) -> tuple[int, int]:
    return per_second, per_second * limits.BURST_SECONDS


@pytest.mark.parametrize(
    ("name", "heading", "there"),
    [
        ("docs/tournaments.md", "## Formats", set(format_names())),
        (
            "docs/bots.md",
            "## When it doesn't get in",
            {kind.__name__ for kind in meijin.bots.RefusedError.__subclasses__()},
        ),
        (
            "docs/protocol.md",
            "An action that answers nothing has no effect and is told of in a notice:",
            set(play_service_pb2.NoticeReason.keys()) - {"NOTICE_REASON_UNSPECIFIED"},
        ),
    ],
)
def test_all_of_a_kind_are_listed(name: str, heading: str, there: set[str]) -> None:
    assert set(page(name).words_of(heading)) == there


def test_settings_of_formats_are_listed() -> None:
    """Every setting that only some formats have is told of each, and no other."""
    told = [
        (form, name)
        for forms, names, *_ in page("docs/tournaments.md").table("## Settings of a format")
        for form in re.findall(r"`([^`]+)`", forms)
        for name in re.findall(r"`([^`]+)`", names)
    ]
    fields = TournamentSettings.DESCRIPTOR.fields_by_name
    own = {name: fields.get(format_field(name)) for name in format_names()}
    there = [(form, name) for form, field in own.items() if field for name in _fields_of(field)]
    assert sorted(told) == sorted(there)


def _fields_of(field: FieldDescriptor) -> list[str]:
    assert field.message_type is not None
    return [own.name for own in field.message_type.fields]


def test_version_is_the_newest_in_the_changelog() -> None:
    """The project's version, which stands in one place, is the release that is described."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\d\S+) - \d{4}-\d\d-\d\d$", page("CHANGELOG.md").text, re.MULTILINE)
    assert newest is not None
    assert newest[1] == project["version"]


def test_the_tests_of_the_guarantees_exist() -> None:
    """Each promise names one at least."""
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", sources))
    rows = [line for line in page("docs/guarantees.md").text.splitlines() if "test_" in line]
    named = [re.findall(r"`(test_\w+)`", row) for row in rows if row.startswith("|")]
    assert len(named) >= 20
    assert set().union(*named) <= there
