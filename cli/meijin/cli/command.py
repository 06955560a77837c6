"""Commands: their parameters are their options, and what they return is printed."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer
from google.protobuf.message import Message
from rich.console import RenderableType
from rich.table import Table
from typer.core import TyperGroup

from meijin.cli.output import Styled, console, print_json
from meijin.cli.profile import Profile, read_profile
from meijin.cli.tables import TableColumn, table
from meijin.local.connection import Connection, Server, connect, read_list, rows_of

C = TypeVar("C", bound=Callable[..., Any])


def option(text: str, *span: float, flags: Sequence[str] = (), **more: Any) -> Any:  # noqa: ANN401 - as typer has it
    """An option with its help, and the least and the greatest that it may be."""
    least, greatest = (*span, None, None)[:2]
    return typer.Option(*flags, min=least, max=greatest, help=text, **more)


LimitOption = Annotated[int, option("How many; 0 for all.", 0)]
USUAL_LIMIT = 20
OLDER = "there are older ones: give a higher --limit, or 0 for all"
"""What is said below a list that was cut off."""

HINT = "The options that say which server is asked, and how, are in `meijin --help`."
"""The end of the help of each command that talks to one."""

_SERVERS = {Connection, Server, Profile}
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.")
]
_JSON = inspect.Parameter("as_json", _KEYWORD, default=False, annotation=JsonOption)


@dataclass(frozen=True, slots=True)
class Output:
    """What a command has found; whichever returns it has the option ``--json``."""

    value: Message | Mapping[str, object] | tuple[Message, ...]
    """What is printed then, each message in a line, and else the lines."""
    lines: Iterable[RenderableType | Styled | Callable[[], object]] = ()
    """A function prints by itself."""
    error: Exception | None = None
    """Raised when it is printed."""
    is_json: bool = False
    """Whether another option has asked for JSON."""

    def show(self, *, as_json: bool) -> None:
        if as_json or self.is_json:
            for value in self.value if isinstance(self.value, tuple) else (self.value,):
                print_json(value)
        else:
            for line in self.lines:
                if isinstance(line, Styled):
                    console.print(line.text, style=line.style)
                elif callable(line):
                    line()
                else:
                    console.print(line, soft_wrap=isinstance(line, str))
        if self.error is not None:
            raise self.error


class Commands(typer.Typer):
    """A group of commands, each of which is `prepared`."""

    def __init__(self, *, no_args_is_help: bool = True, **settings: Any) -> None:  # noqa: ANN401 - typer's
        super().__init__(no_args_is_help=no_args_is_help, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[C], C]:  # noqa: ANN401 - typer's
        """Add a command, which is left as it is for other callers."""
        add = super().command(name, **settings)

        def register(function: C) -> C:
            add(prepared(function))
            return function

        return register


def default_group(command: str) -> type[TyperGroup]:
    """A group that calls one of its commands when its first word names none."""

    class DefaultGroup(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
            known = (*self.commands, *ctx.help_option_names)
            if args[0] not in known if args else not self.no_args_is_help:
                args = [command, *args]
            return super().parse_args(ctx, args)

    return DefaultGroup


def prepared(command: Callable[..., Any]) -> Callable[..., None]:
    """A command as typer takes it, with an option for each of its parameters.

    A parameter that is a `Connection` is open while the command runs; a `Server` or a `Profile`
    says where to: such a command takes the options of a profile, and those of its own in the
    place of what they are called like. The fields of any other dataclass are options each. An
    option of its parameter's name needs no more than its help in the annotation.
    """
    signature = inspect.signature(command)
    own = signature.parameters
    options: dict[str, inspect.Parameter] = {}
    if talks := any(each.annotation in _SERVERS for each in own.values()):
        options |= _options("", Profile, MISSING)
    for name, each in own.items():
        if each.annotation not in _SERVERS:
            options |= _options(name, each.annotation, each.default)
    if signature.return_annotation is Output:
        options[_JSON.name] = _JSON

    @wraps(command, assigned=("__module__", "__name__", "__qualname__"))
    def run(**values: Any) -> None:  # noqa: ANN401 - the command's own
        with ExitStack() as stack:
            profile = _read("", Profile, values).over(read_profile()) if talks else Profile()
            found = command(
                **{
                    name: _connected(each.annotation, profile, stack)
                    if each.annotation in _SERVERS
                    else _read(name, each.annotation, values)
                    for name, each in own.items()
                }
            )
            if isinstance(found, Output):
                found.show(as_json=values[_JSON.name])

    # Typer keeps the ends of lines; a paragraph in one line is wrapped where the screen ends.
    paragraphs = [*(inspect.getdoc(command) or "").split("\n\n"), *([HINT] if talks else [])]
    run.__doc__ = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    run.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]  # read by typer
    return run


def _options(name: str, kind: Any, default: object) -> dict[str, inspect.Parameter]:  # noqa: ANN401 - any annotation
    """What typer is told of a parameter: itself, or the fields of its dataclass."""
    if not is_dataclass(kind):
        empty = inspect.Parameter.empty
        given = empty if default is MISSING else default
        shown = _with_option(name, kind)
        return {name: inspect.Parameter(name, _KEYWORD, default=given, annotation=shown)}
    found: dict[str, inspect.Parameter] = {}
    for field in fields(kind):
        found |= _options(field.name, field.type, field.default)
    return found


def _with_option(name: str, kind: Any) -> Any:  # noqa: ANN401 - any annotation
    """An annotation, whose option is made of its help where there is nothing else to say."""
    of, *more = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if not more or not isinstance(more[0], str):
        return kind
    flags = [f"--{name.replace('_', '-')}"] if of in (bool, bool | None) else []
    return Annotated[of, typer.Option(*flags, help=more[0])]


def _read(name: str, kind: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as many types as options
    if not isinstance(kind, type) or not is_dataclass(kind):
        return values[name]
    return kind(**{each.name: _read(each.name, each.type, values) for each in fields(kind)})


def _connected(kind: type, profile: Profile, stack: ExitStack) -> Connection | Server | Profile:
    if kind is Connection:
        return stack.enter_context(connect(profile.endpoint, profile.token))
    return profile.endpoint if kind is Server else profile


def list_output(
    ask: Callable[[Any, Any], Any],
    method: Any,  # noqa: ANN401 - of any noun
    request: Message,
    title: str,
    columns: Iterable[TableColumn],
    limit: int = 0,
) -> Output:
    """The first rows of a list as `read_list` gives them, in a table."""
    found: Any = read_list(ask, method, request, limit)
    return Output(found, list_lines(found, table(title, columns, rows_of(found))))


def list_lines(response: Any, shown: Table) -> list[Table | str]:  # noqa: ANN401 - a list of any noun
    """A table of a list, and below it whether there is more of it."""
    return [shown, OLDER] if response.next_page_token else [shown]
