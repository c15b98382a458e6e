"""Where the process of the command line begins: an interrupt while commands are imported ends it without a traceback.

Until the handler is set, an interrupt prints a traceback, so only `signal` is imported before it.
"""

import signal

_INTERRUPTED = 130  # the exit code of interrupted commands, 128 + SIGINT


def main() -> None:
    """Import the commands and run them; a process that ignores interrupts still ignores them."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .main import main as run

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:  # before a command runs, which says itself what an interrupt does
        raise SystemExit(_INTERRUPTED) from None
    finally:
        if heeded:  # Python takes its own time to end
            signal.signal(signal.SIGINT, signal.SIG_DFL)
