"""Generated balanced openings."""

GENERATED = """
"""
