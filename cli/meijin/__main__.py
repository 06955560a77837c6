"""`python -m meijin`: the command `meijin`, where it is not on the PATH."""

from meijin.cli.main import main

if __name__ == "__main__":
    main()
