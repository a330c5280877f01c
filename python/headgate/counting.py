"""Words that agree with a number: `1 flow`, `3 flows`."""


def agreeing(count: int, one: str, several: str = "") -> str:
    """The form of a word for this number. Without `several`, the plural ends in `s`."""
    return one if count == 1 else several or f"{one}s"


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its word."""
    return f"{count} {agreeing(count, one, several)}"
