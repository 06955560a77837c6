"""Power cuts: a disk that forgets what was not synced, under the product's own calls.

- `volume`: a folder of real files, and what a power cut leaves of it
- `calls`: the calls to the system by which the product writes, told to a volume
"""
