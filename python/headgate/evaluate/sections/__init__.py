"""The sections of RFC 7928 that ask for tests, one file each."""
