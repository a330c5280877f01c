"""Hooks of `make site`: pages of disciplines in the navigation, and files that lie outside docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from headgate import _core
from headgate.lab_page import page as lab_page

ROOT = Path(__file__).parents[1]

# mkdocs loads this file by its path.
sys.path.insert(0, str(Path(__file__).parent))
import lab_frames  # noqa: E402

#: Folders outside docs/ whose files the site has too, with their names in the site.
OUTSIDE = {"scenarios": "scenarios", "python/headgate/schema": "schema"}


def on_config(config: MkDocsConfig) -> None:
    """Adds the page of every discipline to the navigation, by group."""
    (listed,) = (part["Disciplines"] for part in config.nav or () if "Disciplines" in part)
    for group, about in _core.groups():
        members = [each for each in _core.disciplines() if each.group == group]
        pages = [{each.display_name: f"disciplines/{each.name}.md"} for each in members]
        listed.append({about[0].upper() + about[1:]: pages})


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the TOML and JSON files of the folders in `OUTSIDE`, and the script that filters tables of claims."""
    for folder, name in OUTSIDE.items():
        for file in sorted((ROOT / folder).iterdir()):
            if file.suffix in (".toml", ".json"):
                files.append(File.generated(config, f"{name}/{file.name}", abs_src_path=str(file)))
    filters = ROOT / "python/headgate/papers/filter.js"
    files.append(File.generated(config, "assets/filter.js", abs_src_path=str(filters)))
    if lab_frames.is_built():
        files.append(File.generated(config, lab_frames.PLACE, abs_src_path=str(lab_page.PAGE)))


def on_page_markdown(markdown: str, page: Page | None = None, **_: Any) -> str:
    """Rewrites links to these folders, which pages write relative to the repository, to their place in the site.

    Adds the lab.
    """
    for folder, name in OUTSIDE.items():
        markdown = re.sub(rf"\]\(\.\./\.\./{folder}/", f"](../{name}/", markdown)
    return lab_frames.with_lab(markdown, Path(page.file.src_uri)) if page and lab_frames.is_built() else markdown
