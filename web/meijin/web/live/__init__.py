"""Live boards: what happens in running games, told to browsers by server-sent events.

- `topics`: what may be watched, as addresses name it
- `boards`: running games as they were told so far, and how they are written
- `cell`: the newest state of a topic, encoded once for all who watch it
- `delay`: holding moves back, and thoughts longer
- `watcher`: one browser's stream, which takes the newest state when its socket takes it
- `subscription`: the one watch of the arena that a topic has
- `hub`: the subscriptions that are being watched, and how many may be
"""
