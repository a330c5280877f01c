"""Results for other programs: flent's files, and tables as CSV, for `headgate export`."""
