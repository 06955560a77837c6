"""The gRPC services.

- `interceptor`: authentication and permissions before every method, statuses after it
- `local`: calls from within the process, for its pages
- `loopback`: the server asks itself, to learn when the threads that serve streams stand still
- `stream_ends`: how many streams end in one turn of the event loop
- `limits`: what an address or a bot may open and ask for, at once and as time goes by
- `call_counts`: calls counted by method, status and reason
- `call_spans`: spans of unary calls and of bots' streams
- `requests`: pagination, and ids as text
- `play`, `bots`, `tournaments`, `games`, `faults`, `ladders`, `status`: a servicer for each service
- `analysis`: positions outside of games, evaluated by connected bots
- `openings`: what was played in a position
- `ended_games`: a tournament's games that ended before somebody watched it
- `admin`, `tokens`, `owners`, `classes`: servicers of who may do what
- `challenges`: challenges, and the people who come to play
- `webhooks`: the servicer of webhooks; `webhook_payloads`: what is told to them of an event
- `arena_watch`: the watch of all running games; `loop_share`: how much of the event loop it takes
- `health`: the standard health service
- `convert_bots`, `convert_games`, `convert_faults`, `convert_ladders`, `convert_diagnoses`,
  `convert_tournaments`, `convert_matches`, `convert_status`,
  `convert_challenges`, `convert_analysis`, `convert_webhooks`,
  `convert_openings`, `convert_arena`: between messages and views; those of the play stream are in
  `match.wire`
"""
