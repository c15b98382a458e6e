"""``python -m llbt``: the command line, also where the command ``llbt`` is not on the PATH."""

from .cli.start import main

if __name__ == "__main__":
    main()
