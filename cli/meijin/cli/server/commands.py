"""`meijin serve` and `meijin worker`."""

import asyncio
import inspect
from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meijin.cli.command import option
from meijin.cli.errors import (
    CommandError,
    FencedServerError,
    in_one_line,
    needed_parts,
    unusable_database,
)
from meijin.game import TIME_CLASSES
from meijin.wire.contract import (
    COLLECTOR_VARIABLES,
    DATABASE_VARIABLE,
    DEFAULT_DATA,
    DEFAULT_SERVER,
    DEFAULT_WEB,
    LOG_FORMAT_VARIABLE,
    LOG_LEVEL_VARIABLE,
    REDIS_VARIABLE,
    SWEEP_INTERVAL,
    SWEEP_VARIABLE,
)

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from meijin.server.api.calls.local import LocalCalls
    from meijin.server.settings import Settings
    from meijin.web.host import Host


DEFAULT_HOST, _, _ = DEFAULT_SERVER.partition(":")

WORKER_SERVICE = "meijin-worker"
"""What traces call a worker, unless the environment says otherwise."""

ENV_FILE_HELP = "File of settings; /dev/null for none. \\[meijin.env]"
LOG_LEVEL_HELP = "What is logged at least: debug, info, warning, error."
TRACES_HELP = "URL of an OpenTelemetry collector for traces, by OTLP over gRPC; else none."

OPTIONS: Mapping[str, tuple[type, str]] = {
    "listen": (str, f"Host and port; port 0 takes a free one. \\[{DEFAULT_SERVER}]"),
    "port": (int, f"Short for --listen {DEFAULT_HOST}:PORT."),
    "certificate": (Path, "PEM file of a certificate, for TLS."),
    "key": (Path, "PEM file of the certificate's key."),
    "client_ca": (Path, "PEM file of an authority whose certificate clients must show."),
    "plaintext": (bool, "Let other machines connect without TLS."),
    "data": (Path, f"Folder of the database, the queue and the token. \\[{DEFAULT_DATA}]"),
    "database": (str, "SQLAlchemy URL, such as postgresql://host/name; else SQLite."),
    "redis": (str, "redis:// or unix:// URL; else a Valkey and a worker are started too."),
    "durability": (str, "What a committed move survives: power (cuts) or process. \\[power]"),
    "open": (bool, "Short for --registration open: everybody is an operator."),
    "registration": (str, "Who registers bots: open, invitation or closed. \\[closed]"),
    "reading": (str, "Who may look: anyone, or who has a token. \\[anyone]"),
    "admission": (
        str,
        "Who gets rated games: anyone, or versions that have passed the doctor. \\[anyone]",
    ),
    "owner_quota": (int, "Bots that an owner may register. \\[10]"),
    "owner_tournaments": (bool, "Let owners make tournaments."),
    "hosting": (bool, "Let owners hand programs over, which hosts play."),
    "programs": (str, "Folder or bucket, such as s3://bots, of programs; else in --data."),
    "open_to_network": (bool, "With --open: anyone on other machines too."),
    "time_classes": (
        str,
        (
            "Classes of time control that ladders are split by, each with the seconds of a "
            f"side that it ends at. \\[{TIME_CLASSES}]"
        ),
    ),
    "grace": (float, "Seconds a bot may be away in one game. \\[30]"),
    "margin": (float, "Seconds a move may overstep its time. \\[0.05]"),
    "drain": (float, "Seconds running games get when stopped. \\[5]"),
    "log_level": (str, f"{LOG_LEVEL_HELP} \\[info]"),
    "log_format": (str, "text or json; auto is text to a terminal and JSON else. \\[auto]"),
    "metrics": (str, "Host and port of metrics for Prometheus; else none are served."),
    "traces": (str, TRACES_HELP),
    "web": (str, f"Host and port of pages for browsers, or off. \\[{DEFAULT_WEB}]"),
    "web_url": (str, "Where people find the pages, such as https://arena.example."),
    "backup_every": (float, "Seconds between automatic backups of an SQLite database; else none."),
    "accept_lost_moves": (
        bool,
        "Start though the log of moves is damaged: games that may be short become void.",
    ),
    "env_file": (Path, ENV_FILE_HELP),
}
"""What `meijin serve` is given: settings by their names."""


def serve(**given: Any) -> None:  # noqa: ANN401 - as many types as settings
    """Run the match server until Ctrl-C or SIGTERM.

    Every option can be set in the environment, as MEIJIN_LISTEN and so on, or in a file
    meijin.env; docs/settings.md lists them all. Games that are cut off go on at the next start.
    """
    registration = given.get("registration")
    if given.pop("open", None):
        if registration not in {None, "open"}:
            raise CommandError(
                f"--open and --registration {registration} exclude each other; give one"
            )
        given["registration"] = "open"
    if (port := given.pop("port", None)) is not None:
        if given.get("listen") is not None:
            raise CommandError("--port is short for --listen; give one")
        given["listen"] = f"{DEFAULT_HOST}:{port}"
    given |= {f"{name}_url": given.pop(name, None) for name in ("database", "redis")}
    given["traces"] = given.get("traces") or None
    _run(read_settings(**given))


def _parameter(name: str, kind: type, text: str) -> inspect.Parameter:
    variables = list(COLLECTOR_VARIABLES) if name == "traces" else None
    option: Any = typer.Option(
        None, f"--{name.replace('_', '-')}", envvar=variables, show_envvar=False, help=text
    )
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=option, annotation=kind | None)


serve.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by typer
    [_parameter(name, kind, text) for name, (kind, text) in OPTIONS.items()]
)


def read_settings(env_file: Path | None = None, **given: object) -> "Settings":
    """A server's settings: what is given, else the environment and the file."""
    with needed_parts():
        from pydantic import ValidationError  # noqa: PLC0415 - the bare install has no server

        from meijin.server.settings import Settings  # noqa: PLC0415
    arguments: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if env_file is not None:
        if not env_file.exists():
            raise CommandError(f"there is no {env_file}; give a file with --env-file")
        arguments["_env_file"] = env_file
    try:
        return Settings(**arguments)
    except ValidationError as error:
        raise _wrong_setting(error) from None


def _wrong_setting(error: "ValidationError") -> CommandError:
    first = error.errors()[0]
    if not first["loc"]:  # of several settings, each of which could be
        return CommandError(str(first["ctx"]["error"]))
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return _unknown_setting(name.upper())
    value = first["input"]
    given = f"{value.total_seconds():g}" if isinstance(value, timedelta) else repr(value)
    return CommandError(f"{name}: {_demand(first)}, not {given}")


def _unknown_setting(variable: str) -> CommandError:
    from meijin.server.settings import Settings  # noqa: PLC0415 - as in serve

    known = [f"MEIJIN_{name.upper()}" for name in Settings.model_fields]
    near = get_close_matches(variable, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/settings.md lists them"
    return CommandError(f"there is no setting {variable}; {hint}")


def _demand(details: "ErrorDetails") -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "value_error":
            return str(context["error"])
        case "greater_than":
            return f"it must be more than {_bound(context['gt'])}"
        case "greater_than_equal":
            return f"it must be at least {_bound(context['ge'])}"
        case "time_delta_parsing":
            return "it must be a number of seconds, such as 30 or 0.5"
        case _:
            return details["msg"].replace("Input should", "it must")


def _bound(value: object) -> int:
    """A bound as a number: those of durations, which are all nought, come as words."""
    return value if isinstance(value, int) else 0


def _run(settings: "Settings") -> None:
    with needed_parts():
        from meijin.programs.errors import DepotError  # noqa: PLC0415 - as above
        from meijin.server.app import serve as serve_until_stopped  # noqa: PLC0415 - as above
        from meijin.server.errors import CertificateError  # noqa: PLC0415
        from meijin.server.logs import configure_logs  # noqa: PLC0415
        from meijin.server.process.valkey import EmbeddedValkeyError  # noqa: PLC0415
        from meijin.server.tracing.start import TracingError  # noqa: PLC0415

    configure_logs(settings.log_level, settings.log_format)
    with in_one_line(CertificateError, DepotError, EmbeddedValkeyError, TracingError):
        try:
            asyncio.run(serve_until_stopped(settings, _announce, partial(_open_site, settings)))
        except ExceptionGroup as group:
            raise _failure(group) from None


def _failure(group: "ExceptionGroup[Exception]") -> CommandError:
    """What to say of a server whose parts have failed; what nobody expected is logged in full."""
    import structlog  # noqa: PLC0415 - the bare install has no server
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - the bare install has no server

    from meijin.store.errors import FencedError, LostCommitsError  # noqa: PLC0415 - likewise
    from meijin.store.journal import LostUpdateError  # noqa: PLC0415 - likewise

    failures = list(_leaves(group))
    for error in failures:
        match error:
            case FencedError():
                return FencedServerError(f"{error}. This one has ended; the games go on there")
            case LostCommitsError():
                return CommandError(f"{error} Games resume at the next start from what is there")
            case LostUpdateError():
                return CommandError(
                    f"another server has written to this database ({error}); stop one of the two. "
                    "Games resume at the next start"
                )
    for error in failures:
        structlog.get_logger().error("the server failed", exc_info=error)
    first = next((each for each in failures if isinstance(each, SQLAlchemyError)), failures[0])
    if isinstance(first, SQLAlchemyError):
        return unusable_database(first)
    return CommandError(
        f"the server failed: {type(first).__name__}: {first}; the log has more. "
        "Games resume at the next start"
    )


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


async def _open_site(settings: "Settings", calls: "LocalCalls") -> "Host | None":
    """Open the pages, and say where; the games go on where that fails."""
    from meijin.server.settings import NO_WEB  # noqa: PLC0415 - the bare install has no server

    if settings.web == NO_WEB:
        return None
    from meijin.cli.server.site import open_site  # noqa: PLC0415 - bots do not wait for its modules

    host = open_site(settings, calls)
    if host is not None:
        typer.echo(f"pages for browsers are at {settings.web_url or host.url}")
    return host


def _announce(address: str) -> None:
    """Say where bots connect: one line that scripts may wait for."""
    typer.echo(f"meijin is listening on {address}")


def worker(
    database: Annotated[str, option("The server's SQLAlchemy URL.", envvar=DATABASE_VARIABLE)],
    redis: Annotated[str, option("The server's redis:// or unix:// URL.", envvar=REDIS_VARIABLE)],
    sweep: Annotated[
        str, option("Seconds between looks for ladders no job came for.", envvar=SWEEP_VARIABLE)
    ] = f"{SWEEP_INTERVAL.total_seconds():g}",
    log_level: Annotated[str, option(LOG_LEVEL_HELP, envvar=LOG_LEVEL_VARIABLE)] = "info",
    log_format: Annotated[
        str, option("text or json; auto is text to a terminal alone.", envvar=LOG_FORMAT_VARIABLE)
    ] = "auto",
    traces: Annotated[
        str | None, option(TRACES_HELP, envvar=list(COLLECTOR_VARIABLES), show_envvar=False)
    ] = None,
) -> None:
    """Run a worker that computes ladders, until Ctrl-C or SIGTERM.

    Needed only where `meijin serve` is given a Redis; else it starts one of its own.
    """
    with needed_parts():
        from pydantic import ValidationError  # noqa: PLC0415 - as in serve

        from meijin.ladder.worker import work_until_signalled  # noqa: PLC0415
        from meijin.server.logs import configure_logs  # noqa: PLC0415
        from meijin.server.settings import WorkerSettings  # noqa: PLC0415
        from meijin.server.tracing.spans import record_run  # noqa: PLC0415
        from meijin.server.tracing.start import TracingError, start_tracer  # noqa: PLC0415
    given = {
        "database_url": database,
        "redis_url": redis,
        "sweep": sweep,
        "log_level": log_level,
        "log_format": log_format,
        "traces": traces or None,
    }
    try:
        settings = WorkerSettings.model_validate(given)
    except ValidationError as error:
        raise _wrong_setting(error) from None
    configure_logs(settings.log_level, settings.log_format)
    with in_one_line(TracingError), start_tracer(settings.traces, WORKER_SERVICE) as tracer:
        work_until_signalled(
            settings.database_url,
            settings.redis_url,
            sweep=settings.sweep,
            published=partial(record_run, tracer),
        )
