"""`python -m headgate` is `headgate`."""

from headgate.cli import main

main()
