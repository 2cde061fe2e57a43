"""Finds the texts that people read, by place: pages, sentences of rules, descriptions of faults, messages."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MIN_WORDS_OF_TEXT = 4
"""The minimum number of words in a text. Shorter strings are names and keys."""
TESTER_FOLDERS = (
    *("attach", "capture", "compiled", "environment", "expectations", "faults", "judging", "mutation", "preflight"),
    *("prerequisites", "proof", "results", "rules", "run", "topology", "wire"),
)
"""The folders of `harness` whose docstrings and messages are checked."""
LAKE_COMMAND_FILES = ("cli.py", "command.py", "questions.py")
_CODE_FENCE_PATTERN = re.compile(r"^\s*```")
_INLINE_CODE_PATTERN = re.compile(r"`+[^`]+`+")
_LINK_PATTERN = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_LINK_DEFINITION_PATTERN = re.compile(r"^\[[^\]]+\]: ")
_LIST_ITEM_PATTERN = re.compile(r"^(?:[-*]|\d+\.) ")
_TABLE_RULER_PATTERN = re.compile(r"^[-| :]+$")
_RULE_TEXT_KEY_PATTERN = re.compile(r"^(?:says|title) = ")


@dataclass(frozen=True, slots=True)
class ProseText:
    """A text on one line, without markup, and the number of the line on which it begins."""

    file: Path
    line: int
    content: str


def collect_texts_by_place(root: Path) -> dict[str, list[ProseText]]:
    """Return the texts by place. A place is a page, the rules or faults of a document, the commands, or a folder of a
    package.
    """
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    found = {str(page.relative_to(root)): list(extract_texts_of_page(page)) for page in pages}
    for document in sorted({section.parents[1] for section in (root / "suites").glob("*/*/rules.toml")}):
        folder = str(document.relative_to(root))
        found[f"{folder}: rules"] = _collect_texts(extract_texts_of_rules, sorted(document.glob("*/rules.toml")))
        found[f"{folder}: faults"] = _collect_texts(extract_texts_of_program, sorted(document.rglob("faults*.py")))
    for package, files in {
        "harness/cli": sorted((root / "harness" / "cli").glob("*.py")),
        "reports": [root / "reports" / "cli.py", *(root / "reports" / "lake" / name for name in LAKE_COMMAND_FILES)],
        "reference_qm/shell": [root / "reference_qm" / "shell" / name for name in ("cli.py", "reader.py")],
    }.items():
        found[f"{package}: commands"] = _collect_texts(extract_texts_of_program, files)
    for place in TESTER_FOLDERS:
        found[f"harness/{place}"] = _collect_texts(
            extract_texts_of_program, sorted((root / "harness" / place).rglob("*.py"))
        )
    return {place: texts for place, texts in found.items() if texts}


def extract_texts_of_page(page: Path) -> Iterator[ProseText]:
    """Yield the paragraphs, headings, list items and table cells of a Markdown page, without code and without the
    addresses of links.
    """
    begun, words, fenced, code = 0, "", False, False
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate([*lines, ""], 1):
        if _CODE_FENCE_PATTERN.match(line):
            fenced = not fenced
        code = line.startswith("    ") and (code or not words)
        is_cell, is_item = line.startswith("|"), _LIST_ITEM_PATTERN.match(line)
        ends = fenced or code or is_cell or is_item or line.startswith("#") or not line.strip()
        if ends and words:
            yield ProseText(page, begun, _remove_markup(words))
            words = ""
        if fenced or code or _CODE_FENCE_PATTERN.match(line) or _LINK_DEFINITION_PATTERN.match(line):
            continue
        if is_cell:
            if not _TABLE_RULER_PATTERN.match(line):
                cells = _INLINE_CODE_PATTERN.sub("`code`", line).strip("|").split("|")
                yield from (ProseText(page, number, _remove_markup(cell)) for cell in cells if cell.strip())
            continue
        if line.startswith("#"):
            yield ProseText(page, number, _remove_markup(line.lstrip("# ")))
            continue
        begun = begun if words else number
        words = f"{words} {_LIST_ITEM_PATTERN.sub('', line).strip()}".strip()


def extract_texts_of_rules(file: Path) -> Iterator[ProseText]:
    """Yield the title and the sentences of the rules from a file `rules.toml`."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if _RULE_TEXT_KEY_PATTERN.match(line):
            yield ProseText(file, number, " ".join(str(next(iter(tomllib.loads(line).values()))).split()))


def extract_texts_of_program(file: Path) -> Iterator[ProseText]:
    """Yield the texts of a Python file: docstrings, help and messages. ``{}`` stands for the fields of f-strings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            skipped.update(part for part in node.values if isinstance(part, ast.Constant))
            words = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value
        else:
            continue
        for paragraph in re.split(r"\n\s*\n", words):
            if len(paragraph.split()) >= MIN_WORDS_OF_TEXT:
                yield ProseText(file, node.lineno, _remove_markup(" ".join(paragraph.split())))


def _remove_markup(words: str) -> str:
    return _LINK_PATTERN.sub(r"\1", _INLINE_CODE_PATTERN.sub("`code`", words)).replace("**", "").strip()


def _collect_texts(texts_of: Callable[[Path], Iterator[ProseText]], files: Iterable[Path]) -> list[ProseText]:
    return [text for file in files for text in texts_of(file)]
