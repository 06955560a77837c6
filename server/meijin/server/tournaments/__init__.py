"""Tournaments being played: their formats, planning, scheduling, control and recovery."""
