"""Admissions: programs that were uploaded are examined, one after the other.

- `candidate`: a program in its sandbox, as the doctor examines it
- `examination`: the steps of an admission, and what each has found
- `lease`: how long a program is a worker's, renewed while it is examined
- `worker`: the process that takes programs from the queue: `meijin host admit`
"""
