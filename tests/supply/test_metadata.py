"""What package registries show of Headgate: the README with links that work on other sites, extras, and addresses."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
RAW = REPOSITORY.replace("https://github.com", "https://raw.githubusercontent.com")

LINKS = sorted(set(re.findall(r"\]\(([^)\s]+)\)", (ROOT / PROJECT["readme"]).read_text())))


@pytest.mark.parametrize("link", LINKS)
def test_the_readme_has_absolute_links_to_files_that_exist(link: str):
    assert link.startswith("https://")
    for prefix in (f"{REPOSITORY}/blob/main/", f"{RAW}/main/"):
        if link.startswith(prefix):
            assert (ROOT / link.removeprefix(prefix).partition("#")[0]).exists()
            return
    assert not link.startswith((REPOSITORY, RAW)), "a link into the repository names the branch main"


def test_pictures_of_the_readme_are_not_pages_about_them():
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / PROJECT["readme"]).read_text())
    assert pictures
    assert all(picture.startswith(f"{RAW}/main/") for picture in pictures)


def test_addresses_lie_in_the_repository():
    assert all(address.startswith(REPOSITORY) for address in PROJECT["urls"].values())


def test_the_extra_all_has_every_extra_of_users():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    listed = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", everything)
    assert listed
    assert listed[1].split(",") == sorted(set(extras) - {"all", "dev", "docs"})


def test_messages_and_guides_name_the_package_and_an_extra_that_exists():
    # Shells of Windows know no single quotes.
    files = [*(ROOT / "python/headgate").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    found = [match for file in files for match in re.findall(r"pip install \W?headgate.*?\[.*?\].?", file.read_text())]
    assert found
    for command in found:
        whole = re.fullmatch(rf'pip install "{PROJECT["name"]}\[(.*)\]"', command)
        assert whole, command
        assert whole[1] in {*PROJECT["optional-dependencies"], "{extra}"}, command
