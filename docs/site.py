"""What `make site` adds: the disciplines of the registry, and scenarios and schemas, which lie outside docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from headgate import _core

ROOT = Path(__file__).parents[1]

#: The folders whose files the site has too, and what they are called there.
BESIDES = {"scenarios": "scenarios", "python/headgate/schema": "schema"}


def on_config(config: MkDocsConfig) -> None:
    """Adds the page of every discipline to the navigation, by group."""
    (listed,) = (part["Disciplines"] for part in config.nav or () if "Disciplines" in part)
    for group, about in _core.groups():
        members = [each for each in _core.disciplines() if each.group == group]
        pages = [{each.printed: f"disciplines/{each.name}.md"} for each in members]
        listed.append({about[0].upper() + about[1:]: pages})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the files of these folders."""
    for folder, name in BESIDES.items():
        for file in sorted((ROOT / folder).iterdir()):
            if file.suffix in (".toml", ".json"):
                files.append(File.generated(config, f"{name}/{file.name}", abs_src_path=str(file)))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leads links to them, which go up to the root of the repository, to where the site has them."""
    for folder, name in BESIDES.items():
        markdown = re.sub(rf"\]\(\.\./\.\./{folder}/", f"](../{name}/", markdown)
    return markdown
