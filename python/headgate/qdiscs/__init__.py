"""Disciplines as text, their parameters as numbers, and their counterparts in Linux as commands of tc."""
