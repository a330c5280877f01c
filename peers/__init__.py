"""The same scenarios in ns-2, in ns-3 and here: `make peers` runs them and compares the results."""
