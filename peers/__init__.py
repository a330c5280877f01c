"""The same scenarios in ns-2, in ns-3 and in Headgate: `make peers` runs them and compares the results."""
