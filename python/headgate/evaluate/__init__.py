"""The characterization guidelines of RFC 7928, sections 4 to 10, for any disciplines: one file a section."""
