"""The scripts of a page: bundled files, which its content security policy allows by their hashes."""

import base64
import hashlib
from importlib import resources


def text(package: str, name: str) -> str:
    """The text of a file of a package."""
    return resources.files(package).joinpath(name).read_text("utf-8")


def allowed(*scripts: str) -> str:
    """The sources of a content security policy that allow these scripts only."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)
