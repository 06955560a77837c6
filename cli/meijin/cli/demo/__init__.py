"""`meijin demo`: the whole arena at work, in a minute.

- `command`: the command
- `folder`: the folder of a demo's own
"""
