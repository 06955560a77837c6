"""Webhooks: what happened is told to addresses by HTTP, in threads apart from the games.

- `signature`: secrets, and the signatures of Standard Webhooks
- `targets`: the addresses that may be sent to
- `lookups`: whether the host of a new webhook has such addresses
- `post`: one request by HTTP, bounded in time and in bytes
- `bodies`: what is sent, in each format
- `retries`: what becomes of a delivery and of its webhook after a try
- `threads`: blocking work that holds up no end of the process
- `dispatch`: which webhooks are told of what
- `deliverer`: what is due is sent, for as long as the server runs
"""
