"""Records: frozen dataclasses whose classes have the columns of their tables."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NewType,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    Double,
    Enum,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TextClause,
    TypeDecorator,
    text,
)
from sqlalchemy.types import TypeEngine

from meijin.game import Adjudication, TimeClass, TimeControl, Variant
from meijin.store.schema.ids import FormatName

T = TypeVar("T")
R = TypeVar("R", bound="Record")
INT64 = BigInteger().with_variant(Integer(), "sqlite")
"""An integer of eight bytes: SQLite's are that, and keys must be declared as just integers there."""
NOT_FINISHED = text("state <> 'finished'")
"""The condition of the partial indexes of what is not finished."""


class Instant(TypeDecorator[datetime]):
    """An aware instant, kept in UTC; SQLite has no type of its own for it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        return value and value.replace(tzinfo=UTC)


class Written(TypeDecorator[T]):
    """A value as it is written, such as ``60+0.5`` or ``standard 15x15``.

    Args:
        parse: The inverse of `str`.
    """

    impl = String(60)
    cache_ok = True

    def __init__(self, parse: Callable[[str], T]) -> None:
        super().__init__()
        self.parse = parse

    def process_bind_param(self, value: T | None, _dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> T | None:
        return None if value is None else self.parse(value)


class Recorded(TypeDecorator[T]):
    """A frozen record as JSON, by the names of its fields; it may hold others, and tuples of them.

    What the JSON of an earlier release lacks has its default, and what it has besides is left out.
    """

    impl = JSON(none_as_null=True)
    cache_ok = True

    def __init__(self, kind: type[T]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: T | None, _dialect: Dialect) -> dict[str, Any] | None:
        return None if value is None else asdict(value)  # type: ignore[call-overload]

    def process_result_value(self, value: dict[str, Any] | None, _dialect: Dialect) -> T | None:
        return None if value is None else _read_record(self.kind, value)


class RecordedEach(TypeDecorator[tuple[T, ...]]):
    """Frozen records as a list of JSON, each as `Recorded` keeps it."""

    impl = JSON
    cache_ok = True

    def __init__(self, kind: type[T]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(
        self, value: tuple[T, ...] | None, _dialect: Dialect
    ) -> list[dict[str, Any]]:
        return [asdict(each) for each in value or ()]  # type: ignore[call-overload]

    def process_result_value(
        self, value: list[dict[str, Any]] | None, _dialect: Dialect
    ) -> tuple[T, ...]:
        return tuple(_read_record(self.kind, each) for each in value or ())


def _read_record(kind: Any, kept: Any) -> Any:  # noqa: ANN401 - of any annotation
    if get_origin(kind) is tuple:
        return tuple(_read_record(get_args(kind)[0], each) for each in kept)
    if isinstance(kind, UnionType):
        return None if kept is None else _read_record(get_args(kind)[0], kept)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(kept)
    if not is_dataclass(kind):
        return kept
    hints = get_type_hints(kind)
    values = {
        each.name: _read_record(hints[each.name], kept[each.name])
        for each in fields(kind)
        if each.name in kept
    }
    return kind(**values)  # type: ignore[operator]


class Field(Generic[T]):
    """A field of a record: the value in a row, and the column in its class."""

    def __init__(self, column: Column[T]) -> None:
        self.column = column

    @overload
    def __get__(self, instance: None, owner: object) -> Column[T]: ...
    @overload
    def __get__(self, instance: object, owner: object) -> T: ...
    def __get__(self, instance: object | None, owner: object) -> Column[T] | T:
        return self.column  # a row has its values in its own `__dict__`, which comes first

    if TYPE_CHECKING:

        def __set__(self, instance: object, value: T) -> None: ...


@dataclass(frozen=True, slots=True)
class _Options:
    """What `column` was given."""

    args: tuple[Any, ...]
    of_column: dict[str, Any]
    of_field: Mapping[str, Any]


def column(
    *args: Any,  # noqa: ANN401 - as `Column` has them
    default: Any = MISSING,  # noqa: ANN401 - of the field's type
    default_factory: Any = MISSING,  # noqa: ANN401 - gives one
    repr: bool = True,  # noqa: A002 - as `dataclasses.field` has it
    **kwargs: Any,  # noqa: ANN401 - as `Column` has them
) -> Any:  # noqa: ANN401 - stands for a value of the field's type
    """A field's column, as `sqlalchemy.Column` takes it; the type is by default the field's."""
    of_field = {"default": default, "default_factory": default_factory, "repr": repr}
    return _Options(args, kwargs, of_field)


@dataclass(frozen=True, slots=True)
class _Computed:
    """What `computed` was given."""

    expression: Any
    of_field: Mapping[str, Any]


def computed(
    expression: Any,  # noqa: ANN401 - any that is selected
    *,
    default: Any = MISSING,  # noqa: ANN401 - of the field's type
    default_factory: Any = MISSING,  # noqa: ANN401 - gives one
) -> Any:  # noqa: ANN401 - stands for a value of the field's type
    """What a field of a query's row is there: a column of another table, or an expression."""
    return _Computed(expression, {"default": default, "default_factory": default_factory})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column, computed))
class Record:
    """A row of a table, or of a query that has more columns than the table.

    A class with `table` is that table: its fields are columns there. One that is derived from it
    adds the fields of a query.
    """

    metadata: ClassVar = MetaData()
    expressions: ClassVar[Mapping[str, Any]] = {}
    """Of the fields that are `computed`, by their names."""
    __table__: ClassVar[Table]

    def __init_subclass__(cls, *, table: str = "", **options: Any) -> None:  # noqa: ANN401 - as `Table` has them
        columns, expressions = {}, {**cls.expressions}
        for name, kind in cls.__annotations__.items():
            given = cls.__dict__.get(name, column())
            if isinstance(given, _Computed):
                expressions[name] = given.expression
                setattr(cls, name, field(**given.of_field))
            elif getattr(kind, "__origin__", None) is Field:
                columns[name] = _column(name, get_args(kind)[0], given)
                setattr(cls, name, field(**given.of_field))
        dataclass(frozen=True, kw_only=True)(cls)
        cls.expressions = expressions
        for name, made in columns.items():
            setattr(cls, name, Field(made))
        if table:
            cls.__table__ = Table(table, cls.metadata, *columns.values(), **options)

    @classmethod
    def __clause_element__(cls) -> Table:
        """The table, wherever SQLAlchemy takes one."""
        return cls.__table__


def _column(name: str, kind: Any, given: _Options) -> Column[Any]:  # noqa: ANN401 - a field's type
    kinds = get_args(kind) if type(None) in get_args(kind) else (kind,)
    args = given.args
    if not args or not isinstance(args[0], TypeEngine | type):
        args = (_type_of(kinds[0]), *args)
    given_default = (given.of_field[name] for name in ("default", "default_factory"))
    defaults = [value for value in given_default if value is not MISSING]
    if defaults and not given.of_column.get("primary_key"):
        given.of_column["default"] = defaults[0]  # also of rows that are not inserted as records
    return Column(name, *args, **{"nullable": len(kinds) > 1, **given.of_column})


def _type_of(kind: Any) -> TypeEngine[Any]:  # noqa: ANN401 - a field's type
    if kind in _TYPES:
        return _TYPES[kind]
    if isinstance(kind, NewType):
        return INT64
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=20,
        values_callable=lambda members: [member.value for member in members],
    )


_TYPES: dict[Any, TypeEngine[Any]] = {
    int: Integer(),
    float: Double(),
    bool: Boolean(),
    str: String(),
    bytes: LargeBinary(),
    date: Date(),
    datetime: Instant(),
    Adjudication: Written(Adjudication.parse),
    TimeClass: Written(TimeClass.parse),
    TimeControl: Written(TimeControl.parse),
    Variant: Written(Variant.parse),
    FormatName: String(20),
    list[str]: JSON(),
    dict[str, Any]: JSON(none_as_null=True),
}


def partial_index(
    name: str, *columns: Column[Any], where: TextClause, unique: bool = False
) -> None:
    """Give a table an index of some of its rows, on both databases."""
    Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class _Alias:
    """A table under another name, with its columns as attributes."""

    def __init__(self, table: Table) -> None:
        self._table = table.alias()

    def __getattr__(self, name: str) -> Column[Any]:
        column: Column[Any] = getattr(self._table.c, name)
        return column

    def __clause_element__(self) -> Any:  # noqa: ANN401 - see `Record`
        return self._table


def aliased(kind: type[R]) -> type[R]:
    """A record's table under another name, for a query that has it twice."""
    return cast("type[R]", _Alias(kind.__table__))
