"""The built-in bots, and how bots are found."""
