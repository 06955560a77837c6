"""Alembic's entry: migrates over the connection that `Database.migrate` hands it."""

from alembic import context

from meijin.store.schema import Record

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Record.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
