"""The journal: everything that happens is committed, and told of after that.

- `compaction`: old games are written anew, so that the journal stays bounded
- `group_commit`, `store_commit`, `log_commit`: what is committed together, to the database or to
  the move log
- `journal`: has everything committed that happens
"""
