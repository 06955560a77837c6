"""`meijin serve` and `meijin worker`."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meijin.cli.errors import (
    CommandError,
    FencedServerError,
    missing_part,
    unusable_database,
    unusable_file,
)
from meijin.cli.importing import importing
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

    from meijin.server.api.local import LocalCalls
    from meijin.server.settings import Settings
    from meijin.web.host import Host


WORKER_SERVICE = "meijin-worker"
"""What traces call a worker, unless the environment says otherwise."""

EnvFileOption = Annotated[
    Path | None, typer.Option(help="File of settings; /dev/null for none. \\[meijin.env]")
]


TracesOption = Annotated[
    str | None,
    typer.Option(
        envvar=list(COLLECTOR_VARIABLES),
        show_envvar=False,
        help="URL of an OpenTelemetry collector for traces, by OTLP over gRPC; else none.",
    ),
]


def serve(
    listen: Annotated[
        str | None,
        typer.Option(help=f"Host and port; port 0 takes a free one. \\[{DEFAULT_SERVER}]"),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="PEM file of a certificate, for TLS.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="PEM file of the certificate's key.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(help="PEM file of an authority whose certificate clients must show."),
    ] = None,
    plaintext: Annotated[
        bool | None,
        typer.Option("--plaintext", help="Let other machines connect without TLS."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help=f"Folder of the database, the queue and the token. \\[{DEFAULT_DATA}]"),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(help="SQLAlchemy URL, such as postgresql://host/name; else SQLite."),
    ] = None,
    redis: Annotated[
        str | None,
        typer.Option(help="redis:// or unix:// URL; else a Valkey and a worker are started too."),
    ] = None,
    durability: Annotated[
        str | None,
        typer.Option(help="What a committed move survives: power (cuts) or process. \\[power]"),
    ] = None,
    is_open: Annotated[
        bool | None,
        typer.Option("--open", help="Short for --registration open: everybody is an operator."),
    ] = None,
    registration: Annotated[
        str | None,
        typer.Option(help="Who registers bots: open, invitation or closed. \\[closed]"),
    ] = None,
    reading: Annotated[
        str | None, typer.Option(help="Who may look: anyone, or who has a token. \\[anyone]")
    ] = None,
    admission: Annotated[
        str | None,
        typer.Option(
            help="Who gets rated games: anyone, or versions that have passed the doctor. \\[anyone]"
        ),
    ] = None,
    owner_quota: Annotated[
        int | None, typer.Option(help="Bots that an owner may register. \\[10]")
    ] = None,
    owner_tournaments: Annotated[
        bool | None, typer.Option("--owner-tournaments", help="Let owners make tournaments.")
    ] = None,
    open_to_network: Annotated[
        bool | None,
        typer.Option("--open-to-network", help="With --open: anyone on other machines too."),
    ] = None,
    time_classes: Annotated[
        str | None,
        typer.Option(
            help="Classes of time control that ladders are split by, each with the seconds of a "
            f"side that it ends at. \\[{TIME_CLASSES}]"
        ),
    ] = None,
    grace: Annotated[
        float | None, typer.Option(help="Seconds a bot may be away in one game. \\[30]")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="Seconds a move may overstep its time. \\[0.05]")
    ] = None,
    drain: Annotated[
        float | None, typer.Option(help="Seconds running games get when stopped. \\[5]")
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(help="What is logged at least: debug, info, warning, error. \\[info]"),
    ] = None,
    log_format: Annotated[
        str | None,
        typer.Option(help="text or json; auto is text to a terminal and JSON else. \\[auto]"),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Host and port of metrics for Prometheus; else none are served."),
    ] = None,
    traces: TracesOption = None,
    web: Annotated[
        str | None,
        typer.Option(help=f"Host and port of pages for browsers, or off. \\[{DEFAULT_WEB}]"),
    ] = None,
    web_url: Annotated[
        str | None,
        typer.Option(help="Where people find the pages, such as https://arena.example."),
    ] = None,
    backup_every: Annotated[
        float | None,
        typer.Option(help="Seconds between automatic backups of an SQLite database; else none."),
    ] = None,
    accept_lost_moves: Annotated[
        bool | None,
        typer.Option(
            "--accept-lost-moves",
            help="Start though the log of moves is damaged: games that may be short become void.",
        ),
    ] = None,
    env_file: EnvFileOption = None,
) -> None:
    """Run the match server until Ctrl-C or SIGTERM.

    Every option can be set in the environment, as MEIJIN_LISTEN and so on, or in a file
    meijin.env; docs/operating.md lists them all. Games that are cut off go on at the next start.
    """
    if is_open and registration not in {None, "open"}:
        raise CommandError(f"--open and --registration {registration} exclude each other; give one")
    settings = read_settings(
        env_file,
        listen=listen,
        certificate=certificate,
        key=key,
        client_ca=client_ca,
        plaintext=plaintext,
        data=data,
        database_url=database,
        redis_url=redis,
        durability=durability,
        registration="open" if is_open else registration,
        reading=reading,
        admission=admission,
        owner_quota=owner_quota,
        owner_tournaments=owner_tournaments,
        open_to_network=open_to_network,
        time_classes=time_classes,
        grace=grace,
        margin=margin,
        drain=drain,
        log_level=log_level,
        log_format=log_format,
        metrics=metrics,
        traces=traces or None,
        web=web,
        web_url=web_url,
        backup_every=backup_every,
        accept_lost_moves=accept_lost_moves,
    )
    _run(settings)


def read_settings(env_file: Path | None = None, **given: object) -> "Settings":
    """A server's settings: what is given, else the environment and the file.

    Raises:
        CommandError: a setting can't be what it should be, there is no such file, or the server
            is not installed.
    """
    try:
        with importing():
            from pydantic import ValidationError  # noqa: PLC0415 - the bare install has no server

            from meijin.server.settings import Settings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
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
    """What to say of settings of which one can't be what it should be."""
    first = error.errors()[0]
    if not first["loc"]:  # of several settings, each of which could be
        return CommandError(str(first["ctx"]["error"]))
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return _unknown_setting(name.upper())
    return CommandError(f"{name}: {_demand(first)}, not {_shown(first['input'])}")


def _unknown_setting(variable: str) -> CommandError:
    """What to say of a line in the file that sets nothing."""
    from meijin.server.settings import Settings  # noqa: PLC0415 - as in serve

    known = [f"MEIJIN_{name.upper()}" for name in Settings.model_fields]
    near = get_close_matches(variable, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/operating.md lists them"
    return CommandError(f"there is no setting {variable}; {hint}")


def _demand(details: "ErrorDetails") -> str:
    """What a setting has to be."""
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


def _shown(value: object) -> str:
    """What was given, a duration in seconds."""
    return f"{value.total_seconds():g}" if isinstance(value, timedelta) else repr(value)


def _run(settings: "Settings") -> None:
    with importing():
        from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - the bare install has no server

        from meijin.server.app import serve as serve_until_stopped  # noqa: PLC0415
        from meijin.server.errors import CertificateError  # noqa: PLC0415
        from meijin.server.logs import configure_logs  # noqa: PLC0415
        from meijin.server.process.valkey import EmbeddedValkeyError  # noqa: PLC0415
        from meijin.server.tracing.start import TracingError  # noqa: PLC0415
        from meijin.store import StoreError  # noqa: PLC0415

    configure_logs(settings.log_level, settings.log_format)
    try:
        asyncio.run(serve_until_stopped(settings, _announce, partial(_open_site, settings)))
    except (CertificateError, StoreError, EmbeddedValkeyError, TracingError) as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise unusable_file(error) from None
    except SQLAlchemyError as error:
        raise unusable_database(error) from None
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
        if isinstance(error, FencedError):
            return FencedServerError(f"{error}. This one has ended; the games go on there")
        if isinstance(error, LostCommitsError):
            return CommandError(f"{error} Games resume at the next start from what is there")
        if isinstance(error, LostUpdateError):
            return CommandError(
                f"another server has written to this database ({error}); stop one of the two. "
                "Games resume at the next start"
            )
    for error in failures:
        structlog.get_logger().error("the server failed", exc_info=error)
    for error in failures:
        if isinstance(error, SQLAlchemyError):
            return unusable_database(error)
    first = failures[0]
    return CommandError(
        f"the server failed: {type(first).__name__}: {first}; the log has more. "
        "Games resume at the next start"
    )


def _leaves(error: Exception) -> Iterator[Exception]:
    """The errors in a group and in the groups in it."""
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
    from meijin.cli.site import open_site  # noqa: PLC0415 - bots do not wait for its modules

    host = open_site(settings, calls)
    if host is not None:
        typer.echo(f"pages for browsers are at {settings.web_url or host.url}")
    return host


def _announce(address: str) -> None:
    """Say where bots connect: one line that scripts may wait for."""
    typer.echo(f"meijin is listening on {address}")


def worker(
    database: Annotated[
        str, typer.Option(envvar=DATABASE_VARIABLE, help="The server's SQLAlchemy URL.")
    ],
    redis: Annotated[
        str, typer.Option(envvar=REDIS_VARIABLE, help="The server's redis:// or unix:// URL.")
    ],
    sweep: Annotated[
        str,
        typer.Option(
            envvar=SWEEP_VARIABLE, help="Seconds between looks for ladders no job came for."
        ),
    ] = f"{SWEEP_INTERVAL.total_seconds():g}",
    log_level: Annotated[
        str,
        typer.Option(
            envvar=LOG_LEVEL_VARIABLE, help="What is logged at least: debug, info, warning, error."
        ),
    ] = "info",
    log_format: Annotated[
        str,
        typer.Option(
            envvar=LOG_FORMAT_VARIABLE, help="text or json; auto is text to a terminal alone."
        ),
    ] = "auto",
    traces: TracesOption = None,
) -> None:
    """Run a worker that computes ladders, until Ctrl-C or SIGTERM.

    Needed only where `meijin serve` is given a Redis; else it starts one of its own.
    """
    try:
        with importing():
            from pydantic import ValidationError  # noqa: PLC0415 - as in serve
            from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

            from meijin.ladder.worker import work_until_signalled  # noqa: PLC0415
            from meijin.server.logs import configure_logs  # noqa: PLC0415
            from meijin.server.settings import WorkerSettings  # noqa: PLC0415
            from meijin.server.tracing.ladder_runs import record_run  # noqa: PLC0415
            from meijin.server.tracing.start import TracingError, start_tracer  # noqa: PLC0415
            from meijin.store import StoreError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
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
        configure_logs(settings.log_level, settings.log_format)
        with start_tracer(settings.traces, WORKER_SERVICE) as tracer:
            work_until_signalled(
                settings.database_url,
                settings.redis_url,
                sweep=settings.sweep,
                published=partial(record_run, tracer),
            )
    except ValidationError as error:
        raise _wrong_setting(error) from None
    except (StoreError, TracingError) as error:
        raise CommandError(str(error)) from None
    except SQLAlchemyError as error:
        raise unusable_database(error) from None
