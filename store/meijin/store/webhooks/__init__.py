"""Webhooks in the store.

- `hooks`: made, listed, changed and deleted
- `events`: what happened after a position of a source
- `cursors`: how far each webhook has been told
- `deliveries`: what is on its way, and what has been
"""
