"""Hosting: programs that owners hand over, on their way in, and examined by others.

- `uploads`: the bytes of a program on their way into the depot
- `retention`: the bytes of programs that nobody has are deleted after a while
- `admissions`: what becomes of programs that are examined, told as it changes
"""
