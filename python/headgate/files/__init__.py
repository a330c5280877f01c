"""What a run writes, and how it is read again: folders, Parquet tables, hashes."""
