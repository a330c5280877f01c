"""The parts that commands share: consoles, options, progress bars, tables."""
