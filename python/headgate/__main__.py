"""Where the command begins: `headgate`, and `python -m headgate`."""

import gc

from headgate.terminal import stopping
from headgate.terminal.loading import Loading


def main() -> None:
    """The entry point. Signals end it without a traceback also before it has been loaded, and after its end."""
    stopping.install()
    # Nearly all objects that modules create stay: looking for garbage among them takes a tenth of the start.
    gc.set_threshold(100_000)
    with Loading():
        from headgate import cli
    try:
        cli.main()
    finally:
        stopping.uninstall()


if __name__ == "__main__":
    main()
