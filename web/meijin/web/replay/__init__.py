"""Pages that stand alone in one file: no server, no library, and nobody else's script.

- `page_parts`: what such pages are put together from
- `replay_page`: a game that is replayed
"""
