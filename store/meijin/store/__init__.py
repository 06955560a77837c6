"""Everything that is kept: tables, migrations and queries."""

from meijin.store.database import (
    Database,
    Durability,
    FileClaim,
    StoreInUseError,
    UnknownSchemaError,
)
from meijin.store.writer import Writer

__all__ = ["Database", "Durability", "FileClaim", "StoreInUseError", "UnknownSchemaError", "Writer"]
