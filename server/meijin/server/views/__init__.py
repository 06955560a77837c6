"""Views: what is shown, as values that services, pages and exports read alike.

- `bots`, `games`, `ladders`, `tournaments`: each reads rows, merges them with what is being played,
  and knows no messages
- `status`: how a server is doing
"""
