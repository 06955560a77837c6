"""The compiled search core: importing its modules needs numba, the extra ``meijin[bots]``."""
