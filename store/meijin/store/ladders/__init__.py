"""Ladders as they are stored: rated games, runs, days, repeats."""
