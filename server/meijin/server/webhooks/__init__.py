"""Webhooks: what happened is told to addresses by HTTP, in threads apart from the games.

- `message`: what is sent in each format, and its signature by Standard Webhooks
- `egress`: the addresses that may be sent to, and whether the host of a new webhook has such ones
- `post`: one request by HTTP, bounded in time and in bytes
- `retries`: what becomes of a delivery and of its webhook after a try
- `dispatch`: which events go to which webhooks
- `deliverer`: what is due is sent, for as long as the server runs
"""
