"""``python -m llbt``: the command line, for those whose path does not have the command ``llbt``."""

from .cli.start import main

if __name__ == "__main__":
    main()
