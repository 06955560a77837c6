"""Everything that is kept: tables, migrations and queries."""

from meijin.store.database import Database, Durability, StoreInUseError
from meijin.store.writer import Writer

__all__ = ["Database", "Durability", "StoreInUseError", "Writer"]
