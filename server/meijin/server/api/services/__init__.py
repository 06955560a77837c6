"""The gRPC services, a servicer for each.

- `bots`, `tournaments`, `challenges`, `games`: what is played, and by whom; people come by challenges
- `ladders`, `openings`: what the games have come to
- `faults`, `status`, `health`: how bots and the server are doing
- `analysis`: positions outside of games, evaluated by connected bots
- `hosting`: programs that owners hand over
- `admin`, `tokens`, `owners`, `classes`: who may do what, and who has done it
- `webhooks`: addresses that are told what happens
"""
