"""What tables show."""

from rich.console import Console, RenderableType
from rich.table import Table


def cells(table: Table) -> list[str]:
    """The cells of each row, with bars between them."""
    columns = (map(str, column.cells) for column in table.columns)
    return ["|".join(row) for row in zip(*columns, strict=True)]


def titles(table: Table) -> str:
    return "|".join(str(column.header) for column in table.columns)


def printed(*shown: RenderableType, width: int = 200) -> list[str]:
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(*shown, sep="\n")
    return [line.rstrip() for line in capture.get().splitlines()]
