"""Ratings of bots, and the jobs that keep them fresh."""
