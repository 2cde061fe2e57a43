"""Runs the checks of proselint and of the project on the texts of each place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proselint.checks import __register__ as proselint_checks
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check
from proselint.registry.checks.types import ExistenceSimple
from proselint.tools import LintFile

from scripts.prose.texts import ProseText

WRITING_HABITS_FILE = Path(__file__).with_name("habits.toml")
HABIT_CHECKS_PREFIX = "habits"
DISABLED_CHECKS = ("lexical_illusions", "needless_variants", "typography")
"""The checks of proselint that do not run, because tables of numbers, `...` for omitted lines, or protocol terms
trigger them.
"""
MAX_EXCERPT_CHARACTERS = 30
"""The number of characters that a finding shows on either side of the match."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A match of an unwanted phrase (a habit) in a text, with an alternative."""

    text: ProseText
    habit: str
    excerpt: str
    advice: str


def lint_texts_by_place(places: Mapping[str, Sequence[ProseText]]) -> dict[str, list[Finding]]:
    """Return the findings of each place (a page, or a part of the program), in the order of its texts."""
    register_checks()
    return {place: list(list_findings_of_place(place, texts)) for place, texts in places.items()}


def register_checks() -> None:
    """Register the checks of proselint and the habits of the project, unless this has already been done."""
    registry = CheckRegistry()
    if registry.checks:
        return
    habits = tomllib.loads(WRITING_HABITS_FILE.read_text(encoding="utf-8"))["habit"]
    registry.register_many(proselint_checks)
    registry.register_many(
        tuple(
            Check(
                check_type=ExistenceSimple(pattern=habit["pattern"]),
                path=f"{HABIT_CHECKS_PREFIX}.{habit['name']}",
                message=habit["instead"].replace("{", "{{").replace("}", "}}"),
            )
            for habit in habits
        )
    )


def list_findings_of_place(place: str, texts: Sequence[ProseText]) -> Iterator[Finding]:
    """Yield the findings of one place. Each text of the place becomes one line of the input for proselint."""
    content = "\n".join(text.content for text in texts)
    checks = {HABIT_CHECKS_PREFIX: True, **DEFAULT["checks"], **dict.fromkeys(DISABLED_CHECKS, False)}
    config: Config = {"max_errors": len(content) + 1, "checks": checks}
    page = LintFile(place, content)
    for result in page.lint(config):
        check, (start, end) = result.check_result, result.check_result.span
        begin = start + (page.content[start] == "\n")
        line = page.content.count("\n", 0, begin) - 1
        excerpt = page.content[max(0, begin - MAX_EXCERPT_CHARACTERS) : end + MAX_EXCERPT_CHARACTERS]
        yield Finding(
            texts[line],
            check.check_path.removeprefix(f"{HABIT_CHECKS_PREFIX}."),
            excerpt.replace("\n", " "),
            check.message,
        )
