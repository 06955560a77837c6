"""The JSON API: the contract's methods over HTTP, their messages as `meijin.wire.json` writes them.

There is no second schema: what a method takes and answers is what its descriptor says.

- `methods`: which method answers which verb and path, with which messages
- `requests`: messages from a path, a query and a body
- `answers`: messages and refusals as JSON
- `streams`: methods that answer with many messages, a line each
- `resources`: what answers at a path
- `routes`: all paths, and the OpenAPI document, which ``scripts/generate.py`` makes
"""
