"""What a result must keep: `expect` lines of a scenario, judged for `headgate check`."""
