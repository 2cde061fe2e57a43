"""Links in the documentation have a target, and the commands that it shows exist with their options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.main import get_group

from harness.cli.main import app
from harness.paths import SUITES

ROOT = SUITES.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
IDS = [page.name for page in PAGES]
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^|[`$ /])mqconform ((?:[a-z]+ )*[a-z]+)([^`\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<=\s)--[a-z][a-z-]*")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub generates for the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for link in LINK.findall(text_of(page)):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def unknown_options(page: Path) -> Iterator[str]:
    group = get_group(app)
    for words, rest in COMMAND.findall(text_of(page)):
        command, context = group, typer.Context(group)
        names = words.split()
        while names and hasattr(command, "get_command") and (found := command.get_command(context, names[0])):
            command, context = found, typer.Context(found)
            del names[0]
        if command is group:
            continue
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        shown = re.split(r"\s#|\||&&|<", f"{' '.join(names)} {rest}", maxsplit=1)[0]
        yield from (f"{words}: {option}" for option in OPTION.findall(f" {shown}") if option not in known)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_documented_link_leads_to_an_existing_file_and_heading(page: Path) -> None:
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_documented_command_has_its_documented_options(page: Path) -> None:
    assert list(unknown_options(page)) == []


def test_a_page_is_linked_from_the_readme() -> None:
    linked = set(LINK.findall(text_of(ROOT / "README.md")))
    assert {f"docs/{page.name}" for page in PAGES if page.parent.name == "docs"} <= linked


def test_wrong_documented_link_and_option_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n[a](#a-page) [b](#b) [c](c.md)\n\n    $ mqconform lake sql --lake x --nope\n", "utf-8")
    assert list(broken_links(page)) == ["#b", "c.md"]
    assert list(unknown_options(page)) == ["lake sql: --nope"]
