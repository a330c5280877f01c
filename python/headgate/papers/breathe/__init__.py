"""."""

CITATION = ""
ABOUT = ""
