"""The sections by number."""

from collections.abc import Iterable
from importlib import import_module

from headgate.errors import UsageError
from headgate.evaluate.section import RfcSection
from headgate.experiment.catalogue import files

_PACKAGE = "headgate.evaluate.sections"
_FOUND: list[RfcSection] = [import_module(f"{_PACKAGE}.{file}").SECTION for file in files(_PACKAGE)]

SECTIONS = tuple(sorted(_FOUND, key=lambda section: section.number))


def chosen(numbers: Iterable[int]) -> tuple[RfcSection, ...]:
    """The sections of these numbers, in the RFC's order; all if there are none."""
    wanted_numbers = set(numbers)
    known = {section.number for section in SECTIONS}
    if wanted_numbers - known:
        raise UsageError(
            f"there is no test in section {min(wanted_numbers - known)} of RFC 7928; the sections with tests are "
            f"{min(known)} to {max(known)}"
        )
    return tuple(section for section in SECTIONS if not wanted_numbers or section.number in wanted_numbers)
