"""What the pages say is what the code has: links, tables, numbers and names."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from google.protobuf.descriptor import FieldDescriptor
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.table import Table
from tests.authority import AuthorityFiles
from tests.cli.test_bracket import DRAWN

import meijin.bots
from meijin.bots import Position, load_bot
from meijin.bots.builtin.random_bot import RandomBot
from meijin.bots.sdk.poller import ignore_idle_wakeups
from meijin.cli.ladder_views import ladder_table
from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app
from meijin.cli.output import crosstable
from meijin.cli.sprt import standing_line
from meijin.game import Board, Color, TimeControl
from meijin.ladder.statistics.sequential.sprt import Sprt
from meijin.server.api import analysis, convert_analysis, limits
from meijin.server.api import play as play_service
from meijin.server.api.convert_tournaments import fill
from meijin.server.connections import limits as connection_limits
from meijin.server.errors import MeijinError
from meijin.server.match import actions, lobby, wire
from meijin.server.match.arbiter import allowance, flag, stalls
from meijin.server.match.live import evaluations, session
from meijin.server.settings import Settings
from meijin.server.tournaments.formats.sprt import SprtSettings, Unit
from meijin.store.backup import backup_name
from meijin.store.schema import Base
from meijin.store.tournaments.match_counts import MatchCounts
from meijin.testing.server import open_server
from meijin.testing.settings import settings_in
from meijin.v1 import play_service_pb2
from meijin.v1.ladder_service_pb2 import GetStandingsResponse, Ladder, Score, Standing
from meijin.v1.tournament_service_pb2 import (
    CrosstableCell,
    FaultCount,
    GetTournamentResponse,
    SprtStanding,
    TieBreak,
    Tournament,
    TournamentSettings,
    TournamentStanding,
)
from meijin.wire import format_field, format_names
from meijin.wire.contract import BACKUP_FOLDER, BOT_NAME

if TYPE_CHECKING:
    from tests.docs.conftest import Page

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
    "examples/README.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*/README.md"))),
]
FIRST_SCREEN = 42
"""Lines."""


@pytest.mark.parametrize("name", NAMES)
def test_links_resolve(name: str, pages: "Callable[[str], Page]") -> None:
    """Every link within the repository leads to a file, and to a heading in it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", pages(name).text):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), f"{name} links to {target}"
        assert not anchor or anchor in set(anchors(file)), f"{name} links to {target}"


def anchors(file: Path) -> Iterator[str]:
    """The anchors of a page's headings."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", NAMES)
def test_contents_list_every_section(name: str, pages: "Callable[[str], Page]") -> None:
    """A page with contents at its top names all of its sections, in their order."""
    text = pages(name).text
    listed = re.findall(r"^- \[(.+)\]\(#", text, re.MULTILINE)
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert not listed or listed == sections


@pytest.mark.parametrize("name", NAMES)
def test_lines_fit(name: str, pages: "Callable[[str], Page]") -> None:
    """Prose is at most 100 characters wide; tables and commands may be longer."""
    for line in pages(name).text.splitlines():
        assert len(line) <= 100 or line.startswith(("|", "$ ")), line


# the README


def test_first_screen(pages: "Callable[[str], Page]") -> None:
    """It shows the picture, a line for each of three people, and a bot in twelve lines."""
    page = pages("README.md")
    screen = "\n".join(page.text.splitlines()[:FIRST_SCREEN])
    program = page.programs[0]
    assert len(program.text.splitlines()) == 12
    for part in ("<picture>", "arena-dark.svg", *(each.text for each in page.commands[:3])):
        assert part in screen
    assert program.text.rstrip() in screen
    commands = [command.text for command in page.commands]
    assert commands[3:5] == ["make demo", "make test"]


def test_pictures_are_there(pages: "Callable[[str], Page]") -> None:
    """In light and in dark."""
    shown = re.findall(r'src(?:set)?="([^"]+)"', pages("README.md").text)
    assert len(shown) == 2
    assert all((ROOT / path).is_file() for path in shown)


def test_the_bot_wins(pages: "Callable[[str], Page]", tmp_path: Path) -> None:
    """The README's bot beats random 20 of 20, with either colour."""
    program = pages("README.md").programs[0]
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


def test_tables_are_as_printed(pages: "Callable[[str], Page]") -> None:
    """The crosstable and the ladder are what the code prints for these games."""
    bots = ("random", "alphabeta", "mcts")
    scores = {("alphabeta", "mcts"): 2, ("alphabeta", "random"): 2, ("mcts", "random"): 2}
    tournament = GetTournamentResponse(
        tournament=Tournament(settings=TournamentSettings(name="Demo", bots=bots)),
        crosstable=[
            CrosstableCell(
                bot=bot,
                opponent=other,
                wins=scores.get((bot, other), 0),
                losses=scores.get((other, bot), 0),
            )
            for bot in bots
            for other in bots
            if bot != other
        ],
        faults=[FaultCount(bot=bot) for bot in bots],
        standings=[
            TournamentStanding(
                rank=rank,
                bot=bot,
                tie_breaks=[TieBreak(name="Sonneborn-Berger", value=value)],
            )
            for rank, (bot, value) in enumerate(
                (("alphabeta", 4), ("mcts", 0), ("random", 0)), start=1
            )
        ],
    )
    assert printed(crosstable(tournament)) in pages("README.md").text
    rows = (
        ("alphabeta", 1905, 489, 1297, 1620, 2),
        ("mcts", 1500, 369, 1500, 1502, 1),
        ("random", 1095, 489, 1703, 1383, 0),
    )
    standings = GetStandingsResponse(
        ladder=Ladder(name="freestyle-15x15-blitz"),
        standings=[
            Standing(
                rank=rank,
                bot=bot,
                elo=elo,
                margin=margin,
                superiority=0.867 if rank < len(rows) else None,
                classic_elo=classic,
                opponents_elo=opponents,
                as_black=Score(wins=wins, losses=2 - wins),
                as_white=Score(wins=wins, losses=2 - wins),
                provisional=True,
                linked=True,
            )
            for rank, (bot, elo, margin, opponents, classic, wins) in enumerate(rows, start=1)
        ],
    )
    assert printed(ladder_table(standings, 100)) in pages("README.md").text


def test_line_is_as_printed(pages: "Callable[[str], Page]") -> None:
    """Where a test stands is told as the code tells it."""
    settings = SprtSettings(Sprt(0, 20), Unit.PAIRS, 100_000)
    standing = SprtStanding()
    counts = MatchCounts((93, 15, 106), (9, 14, 51, 21, 12))
    fill(standing, settings.standing(counts))
    line = standing_line(standing)
    assert f"    {line}\n" in pages("docs/matches.md").text


def test_bracket_is_as_drawn(pages: "Callable[[str], Page]") -> None:
    """A knockout is shown as the code shows it."""
    assert f"\n{DRAWN}\n" in pages("docs/tournaments.md").text


def printed(table: Table) -> str:
    """A table as a terminal shows it, without the spaces at the ends of lines."""
    console = Console(width=100, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


# settings


def test_settings_table(
    pages: "Callable[[str], Page]", monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every setting is there with its variable, its option and its default."""
    monkeypatch.chdir(tmp_path)
    defaults = Settings.model_construct()
    rows = pages("docs/operating.md").table("## Settings")
    assert [row[0] for row in rows] == [f"`{name}`" for name in Settings.model_fields]
    for name, variable, _, default, meaning in rows:
        value = getattr(defaults, name.strip("`"))
        assert variable == f"`MEIJIN_{name.strip('`').upper()}`"
        assert default == ("none" if value is None else f"`{written(value)}`")
        assert meaning
        if value is not None:
            monkeypatch.setenv(variable.strip("`"), default.strip("`"))
    assert Settings() == defaults


def written(value: object) -> str:
    """A setting's value as the environment has it."""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}"
    if isinstance(value, Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_settings_options(pages: "Callable[[str], Page]") -> None:
    """The options in the table are those of `meijin serve`, but for the file's and a short word."""
    group = typer.main.get_group(app)
    assert isinstance(group, LazyGroup)
    options = {name for found in group.load("serve").params for name in found.opts}
    rows = pages("docs/operating.md").table("## Settings")
    others = {"--env-file", "--open"}
    assert {row[2].strip("`") for row in rows} - {""} == options - others
    assert all(f"`{option}`" in pages("docs/operating.md").text for option in others)


@pytest.mark.parametrize("name", [*NAMES, "Dockerfile", "docker-compose.yml"])
def test_variables_are_known(name: str) -> None:
    """Every MEIJIN_ variable that a page names is a setting, or one of the clients'."""
    known = {f"MEIJIN_{field.upper()}" for field in Settings.model_fields}
    known |= {
        "MEIJIN_SERVER",
        "MEIJIN_TOKEN",
        "MEIJIN_OPERATOR_TOKEN",
        "MEIJIN_CA",
        "MEIJIN_HARDWARE",
        "MEIJIN_PROFILE",
    }
    known |= {"MEIJIN_CLIENT_CERTIFICATE", "MEIJIN_CLIENT_KEY", "MEIJIN_PLAINTEXT"}
    if name in {"docker-compose.yml", "docs/operating.md"}:
        known |= {"MEIJIN_PORT", "MEIJIN_WEB_PORT"}  # of the compose file itself
    assert set(re.findall(r"\bMEIJIN_[A-Z_]+", (ROOT / name).read_text())) <= known


def test_words_are_found_where_the_page_says(pages: "Callable[[str], Page]") -> None:
    """Each word of the glossary stands in a name or in a docstring's first line of its module."""
    rows = pages("docs/architecture.md").table("## Words")
    assert 10 <= len(rows) <= 25
    for word, _, place in rows:
        room, _, rest = place.strip("`").partition("/")
        tree = ast.parse((ROOT / room / "meijin" / room / rest).read_text())
        assert _plain(word) in "".join(_plain(text) for text in _words(tree)), f"{word}: {place}"


def test_terms_of_the_search_are_found_where_the_page_says(
    pages: "Callable[[str], Page]",
) -> None:
    """Each stands in the name or the docstring of a function in one of the modules."""
    _, _, rest = pages("docs/search.md").text.partition("\n## Alpha-beta\n")
    section, _, _ = rest.partition("\n## ")
    words = ""
    for module in ("search", "selectivity", "movegen", "transposition"):
        assert f"`{module}`" in section
        tree = ast.parse((ROOT / f"bots/meijin/bots/core/{module}.py").read_text())
        words += "".join(_plain(text) for text in _words(tree))
    terms = re.split(r",\s| with | and ", section.partition(";")[0])
    terms += re.findall(r"\*([\w ]+)\*", section)
    assert {"killers", "Late move pruning"} < set(terms)
    for term in terms:
        assert _plain(term.strip().removeprefix("A ").removeprefix("a ")).rstrip("s") in words, term


def _words(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines, and the first lines of its docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield getattr(node, "name", "")
            yield (ast.get_docstring(node) or "").partition("\n")[0]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def test_settings_file_has_the_name_in_the_page(pages: "Callable[[str], Page]") -> None:
    """The file that settings are read from is the one that the page names."""
    config: SettingsConfigDict = Settings.model_config
    assert f"`{config['env_file']}`" in pages("docs/operating.md").text


async def test_metrics_are_listed(pages: "Callable[[str], Page]", tmp_path: Path) -> None:
    """Every metric of ours is in the table with its type, and no other."""
    rows = pages("docs/operating.md").table("## Metrics")
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


def test_log_events_exist(pages: "Callable[[str], Page]") -> None:
    """Every event that the page tells operators to look for is logged somewhere."""
    source = "".join(
        path.read_text()
        for folder in ("server/meijin/server", "ladder/meijin/ladder")
        for path in (ROOT / folder).rglob("*.py")
    )
    for row in pages("docs/operating.md").table("## Watching"):
        for event in re.findall(r"`([^`]+)`", row[0]):
            assert f'"{event}"' in source, event


# the protocol


def test_statuses(pages: "Callable[[str], Page]") -> None:
    """Every status with a reason is one that the server gives."""
    kinds: list[type[MeijinError]] = [MeijinError, *subclasses(MeijinError)]
    given = {(kind.code.name, kind.reason) for kind in kinds}
    rows = pages("docs/protocol.md").table("## How a stream ends")
    told = {(row[0].strip("`"), row[1].strip("`")) for row in rows if row[1]}
    assert told <= given
    unary = {
        "BUSY",
        "TOO_MANY_REQUESTS",
        "NOT_FOUND",
        "NAME_TAKEN",
        "WRONG_STATE",
        "UNIMPLEMENTED",
        "INVITATION",
        "PEOPLE_OFF",
        "QUOTA",
        "REGISTRATION_CLOSED",
    }
    assert {reason for _, reason in given - told} <= unary


def subclasses(kind: type[MeijinError]) -> Iterator[type[MeijinError]]:
    """Every subclass of `kind`."""
    for found in kind.__subclasses__():
        yield found
        yield from subclasses(found)


def test_notices(pages: "Callable[[str], Page]") -> None:
    """Every reason of a notice is explained."""
    text = pages("docs/protocol.md").text
    told = {row[0].strip("`") for row in pages("docs/protocol.md").table(_NOTICES)}
    assert told == set(play_service_pb2.NoticeReason.keys()) - {"NOTICE_REASON_UNSPECIFIED"}
    assert "ENDING_CRASH" in text


_NOTICES = "An action that answers nothing has no effect and is told of in a notice:"


def test_limits(pages: "Callable[[str], Page]") -> None:
    """The limits are those of the code."""
    settings = Settings.model_construct()
    told = {row[0]: row[1] for row in pages("docs/protocol.md").table("## Limits")}
    second = stalls.NS_PER_SECOND
    wait = f"{limits.LONGEST_WAIT.total_seconds():g} s"
    expected = {
        "time for the hello": f"{play_service.HELLO_TIMEOUT.total_seconds():g} s",
        "size of a bot's message": f"{settings.max_message_bytes // 1024} KiB",
        "actions without effect on one stream": f"{settings.max_notices}, of which one comes back "
        "every second",
        "actions in one message": f"the bot's games and {session.SPARE_ACTIONS} more",
        "evaluations outstanding on one stream": f"{evaluations.MAX_OUTSTANDING}; a message may "
        f"hold {session.SPARE_ACTIONS} answers more",
        "positions of one `Evaluate`": str(analysis.MAX_POSITIONS),
        "time of one evaluation": f"{convert_analysis.LONGEST_TIME.total_seconds():g} s",
        "calls of `Evaluate` at once": f"{limits.EVALUATIONS_OF_AN_ADDRESS} of an address, "
        f"{limits.EVALUATIONS} of the server",
        "messages without effect": f"{play_service.MESSAGE_RATE.per_second:g} a second after the "
        f"first {play_service.MESSAGE_RATE.burst:g}; for "
        f"{play_service.MAX_THROTTLING.total_seconds():g} s",
        "streams that take another's place": f"{lobby.REPLACEMENT_RATE.burst:g} a minute",
        "streams of one bot": f"{limits.STREAMS_OF_A_BOT}, of which one plays",
        "new connections of one address": f"{settings.connections_per_second} a second after the "
        f"first {connection_limits.BURST_SECONDS * settings.connections_per_second}; others wait",
        "streams of one address": str(settings.max_streams),
        "watches of one address": str(settings.max_watchers),
        "hellos of one address": f"{_rate(settings.hellos_per_second)}; others wait up to {wait}",
        "requests of one address": f"{_rate(settings.requests_per_second)}; others wait up to "
        f"{wait}; {limits.REQUESTS_AT_ONCE} at a time",
        "changes of one address": f"{limits.CHANGE_RATE.per_second:g} a second after the first "
        f"{limits.CHANGE_RATE.burst:g}",
        "wrong tokens of one address": f"{settings.max_failed_sign_ins} a minute",
        "suspension": f"{limits.SUSPENSION.total_seconds():g} s",
        "time for the bot to read a message": f"{settings.write_timeout.total_seconds():g} s",
        "grace in one game": f"{settings.grace.total_seconds():g} s",
        "margin of a move": f"{settings.margin.total_seconds():g} s, "
        f"{allowance.MARGINS_PER_GAME} times that in a game",
        "lag taken off, as a [share](#what-can-be-gained) of the time control": "at most "
        f"{allowance.LAG_PER_MOVE_NS / second:g} s a move, "
        f"{allowance.LAG_PER_GAME_NS / second:g} s a game",
        "patience for a ping before a flag falls": f"{flag.PING_PATIENCE_NS / second:g} s",
        "text of a `Failure`": f"{actions.MAX_FAILURE} characters",
        "version label": f"{wire.MAX_LABEL} characters",
        "digest": f"{wire.MAX_DIGEST} characters",
    }
    assert expected.items() <= told.items()
    assert told["starts, ends and turns in one message"].startswith(f"{session.MAX_EVENTS:,} ")


def _rate(per_second: int) -> str:
    return f"{per_second} a second after the first {per_second * limits.BURST_SECONDS}"


def test_names_of_bots(pages: "Callable[[str], Page]") -> None:
    """The longest name in the page is the longest that there is."""
    told = {row[0]: row[1] for row in pages("docs/protocol.md").table("## Limits")}
    longest = int(re.findall(r"1 to (\d+)", told["bot name"])[0])
    assert BOT_NAME.fullmatch("a" * longest)
    assert not BOT_NAME.fullmatch("a" * (longest + 1))


# tournaments


def test_formats_are_listed(pages: "Callable[[str], Page]") -> None:
    """Every format of the contract is in the table."""
    told = [row[0].strip("`") for row in pages("docs/tournaments.md").table("## Formats")]
    assert sorted(told) == sorted(format_names())


def test_settings_of_formats_are_listed(pages: "Callable[[str], Page]") -> None:
    """Every setting that only some formats have is told of each, and no other."""
    told = [
        (form, name)
        for forms, names, *_ in pages("docs/tournaments.md").table("## Settings of a format")
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


# the others


def test_version_is_the_newest_in_the_changelog(pages: "Callable[[str], Page]") -> None:
    """The project's version, which stands in one place, is the release that is described."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\d\S+) - \d{4}-\d\d-\d\d$", pages("CHANGELOG.md").text, re.MULTILINE)
    assert newest is not None
    assert newest[1] == project["version"]


def test_sdk_errors_exist(pages: "Callable[[str], Page]") -> None:
    """Every refusal of the SDK is explained, and no other."""
    told = {row[0].strip("`") for row in pages("docs/bots.md").table("## When it doesn't get in")}
    assert told == {kind.__name__ for kind in meijin.bots.RefusedError.__subclasses__()}


def test_tables_are_listed(pages: "Callable[[str], Page]") -> None:
    """Every table of the store is listed, and no other."""
    told = {row[0].strip("`") for row in pages("docs/architecture.md").table("## Tables")}
    assert told == set(Base.metadata.tables)


@pytest.mark.parametrize("name", NAMES)
def test_names_in_code_exist(name: str, pages: "Callable[[str], Page]") -> None:
    """Files that a page names in the text are in the repository."""
    for path in re.findall(
        r"`((?:benchmarks|scripts|tests|docs|proto)/[\w/.]+)`", pages(name).text
    ):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", NAMES)
def test_modules_in_code_exist(name: str, pages: "Callable[[str], Page]") -> None:
    """So are the modules, which the text calls by room and name, and the page's own programs."""
    page = pages(name)
    found = [path for kind in ("py", "proto") for path in ROOT.glob(f"[!.]*/**/*.{kind}")]
    files = [str(path.relative_to(ROOT)) for path in found]
    files += [file.replace("meijin/", "", 1) for file in files]
    files += [program.title for program in page.programs]
    for path in re.findall(r"`([\w/]+\.(?:py|proto))`", page.text):
        assert any(f"/{file}".endswith(f"/{path}") for file in files), path


def test_the_tests_of_the_guarantees_exist(pages: "Callable[[str], Page]") -> None:
    """Each promise names one at least."""
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", sources))
    rows = [line for line in pages("docs/guarantees.md").text.splitlines() if "test_" in line]
    named = [re.findall(r"`(test_\w+)`", row) for row in rows if row.startswith("|")]
    assert len(named) >= 20
    assert set().union(*named) <= there
