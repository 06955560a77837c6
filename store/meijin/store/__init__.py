"""Everything that is kept: tables, migrations and queries."""

from meijin.store.database import Database, Durability, FileClaim
from meijin.store.errors import StoreError, StoreInUseError
from meijin.store.writer import Writer

__all__ = ["Database", "Durability", "FileClaim", "StoreError", "StoreInUseError", "Writer"]
