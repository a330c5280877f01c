"""Faults of storage: flipped bits, killed processes, full disks."""
