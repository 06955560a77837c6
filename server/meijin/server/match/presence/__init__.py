"""Presence: who is away or silent, and through whose fault.

- `silence`: whether connections have fallen silent together without being closed
- `incidents`: what goes wrong without ending a game, for the ledger
- `lost_moves`: voids games of which this server knows less than their players
- `watchdog`: flag fall, lag and slow consumers, looked at now and then
"""
