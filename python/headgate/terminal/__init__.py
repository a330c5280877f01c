"""What every command prints and asks for: consoles, options, progress, tables."""
