"""Views: what is shown of the store, as values that services, pages and exports read alike.

`games`, `ladders`, `tournaments` and `bots` read rows, merge them with what the arena is playing,
and know no messages.
"""
