"""Writes and reads the files of a run: folders, Parquet tables, hashes."""
