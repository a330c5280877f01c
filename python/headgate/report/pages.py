"""HTML pages from Jinja2 templates: every value is escaped, and a page needs no other file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from headgate import style
from headgate.report.inline import inline

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> str:
    """The page of a template, such as `papers/page.html`; raises an error for an unknown name in it."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    # Imported here: commands without a page do not need Jinja2.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headgate", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(number=style.number, fixed=style.fixed, plain=style.plain, inline=inline)
    environment.globals["MISSING"] = style.MISSING
    return environment
