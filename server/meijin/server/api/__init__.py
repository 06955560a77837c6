"""The gRPC services.

- `interceptor`: authentication and permissions before every method, statuses after it
- `requests`: pagination, and ids as text
- `play`, `bots`, `tournaments`, `games`, `ladders`: a servicer for each service
- `health`: the standard health service
- `convert_bots`, `convert_games`, `convert_ladders`, `convert_tournaments`: between messages and
  views; those of the play stream are in `match.wire`
"""
