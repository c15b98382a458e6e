"""Where the process of the command line begins: an interrupt while commands are imported ends it without a word."""

from __future__ import annotations

import signal


def main() -> None:
    """Import the commands and run them; what ignores interrupts goes on to ignore them."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .main import main as run

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
