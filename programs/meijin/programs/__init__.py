"""Programs that owners hand over: their bytes by digest, and the sandbox that they run in.

What only the machine and the program's file decide is here, whoever asks: a host that seats bots,
an admission, or a farm that plays whole games.

- `errors`: what a program is refused for, and what the depot can not do
- `kinds`: what a program's bytes are, and the limits that hold for each
- `depot`: the bytes by digest, in a folder or in a bucket
- `archive`: what is refused before anything of a program is unpacked
- `manifest`: the command that an archive names
- `requirements`: the libraries that a program names
- `prepared`: a program unpacked, with its dependencies, ready to be started
- `sandbox`: the back ends that start one on this machine, and what each can limit
- `containers`: those that start one by a container engine
"""
