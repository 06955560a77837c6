"""The schema's history, applied by `Database.migrate`."""
