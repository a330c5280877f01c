"""Where the command begins: `headgate`, and `python -m headgate`."""

from headgate.terminal.loading import Loading


def main() -> None:
    """The entry point. Ctrl-C ends it without a traceback also before it has been loaded."""
    with Loading():
        from headgate import cli
    cli.main()


if __name__ == "__main__":
    main()
