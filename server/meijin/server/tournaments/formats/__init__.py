"""The formats of tournaments: who meets whom, and when it is decided."""
