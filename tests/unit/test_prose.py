"""The prose linter finds bad habits in the texts that people read, and permits no increase of the findings
of a place.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from scripts.prose import __main__ as command
from scripts.prose.linter import lint_texts_by_place
from scripts.prose.texts import (
    ProseText,
    collect_texts_by_place,
    extract_texts_of_page,
    extract_texts_of_program,
    extract_texts_of_rules,
)

PAGE = """# A page

What is broken is told
to nobody.

    $ what is code is not read

| key | meaning |
| --- | --- |
| `told` | [it is a link](told.md) |

- A first item.
- A second one, which
  takes two lines.

```toml
says = "nobody"
```
"""


def habits_in(words: str) -> set[str]:
    return {finding.habit for finding in lint_texts_by_place({"place": [ProseText(Path("page"), 1, words)]})["place"]}


@pytest.mark.parametrize(
    ("words", "habit"),
    [
        ("What passes on the wire is recorded.", "what-as-subject"),
        ("The sender is told of the failure.", "told"),
        ("Nobody reads the queue.", "nobody"),
        ("A name is no address.", "is-no"),
        ("Whoever reads it is warned.", "whoever"),
        ("The run goes on.", "goes-on"),
        ("All keys that there are.", "that-there-is"),
        ("The file is looked at.", "looked-at"),
        ("The linter holds a page to its habits.", "holds-to"),
        ("All but for the first.", "but-for"),
        ("It is missing.", "pronoun-first"),
    ],
)
def test_prose_check_finds_a_bad_habit(words: str, habit: str) -> None:
    assert habit in habits_in(words)


@pytest.mark.parametrize(
    "words",
    [
        "The tester records all network traffic.",
        "There is no queue of that name.",
        "Input after an error is discarded.",
    ],
)
def test_prose_check_accepts_a_plain_sentence(words: str) -> None:
    assert habits_in(words) == set()


def test_prose_check_reads_paragraphs_cells_and_items_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert [(text.line, text.content) for text in extract_texts_of_page(page)] == [
        (1, "A page"),
        (3, "What is broken is told to nobody."),
        (8, "key"),
        (8, "meaning"),
        (10, "`code`"),
        (10, "it is a link"),
        (12, "A first item."),
        (13, "A second one, which takes two lines."),
    ]


def test_prose_check_reads_the_sentences_of_a_rules_file(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('["MQQB-1-01"]\nobserve = "wire"\nsays = "A packet has a header."\n', encoding="utf-8")
    assert [(text.line, text.content) for text in extract_texts_of_rules(rules)] == [(3, "A packet has a header.")]


def test_prose_check_reads_docstrings_and_messages_of_a_module(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text('"""Read the whole page."""\nname = "short"\nsaid = f"the file {name} is missing"\n', "utf-8")
    assert [text.content for text in extract_texts_of_program(program)] == [
        "Read the whole page.",
        "the file {} is missing",
    ]


def test_prose_check_reads_every_kind_of_file() -> None:
    found = collect_texts_by_place(command.REPOSITORY_ROOT)
    assert {"README.md", "docs/sut-file.md", "suites/mqqb: rules", "suites/mqso: faults"} <= set(found)
    assert {"harness/cli: commands", "reports: commands", "reference_qm/shell: commands"} <= set(found)


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that lints a page against a kept count, and returns the exit code and the new count."""
    monkeypatch.setattr(command, "REPOSITORY_ROOT", tmp_path)
    monkeypatch.setattr(command, "PERMITTED_COUNTS_FILE", tmp_path / "kept.toml")
    monkeypatch.setattr(
        command, "collect_texts_by_place", lambda root: {"page.md": list(extract_texts_of_page(root / "page.md"))}
    )
    monkeypatch.delenv("CI", raising=False)

    def run(words: str, kept: str) -> tuple[int, str]:
        (tmp_path / "page.md").write_text(words, encoding="utf-8")
        (tmp_path / "kept.toml").write_text(kept, encoding="utf-8")
        return command.main([]), (tmp_path / "kept.toml").read_text(encoding="utf-8").removeprefix(
            command.PERMITTED_COUNTS_HEADER
        )

    return run


def test_prose_check_fails_with_findings_above_the_recorded_number(lint, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("Nobody knows.\n\nThe run goes on.\n", '"page.md" = 1\n') == (1, '"page.md" = 1\n')
    assert "page.md:3: goes-on" in capsys.readouterr().out


def test_prose_check_allows_no_findings_without_a_recorded_number(lint) -> None:
    assert lint("Nobody knows.\n", "")[0] == 1


def test_prose_check_lowers_the_recorded_number_of_findings(lint) -> None:
    assert lint("Nobody knows.\n", '"page.md" = 2\n') == (0, '"page.md" = 1\n')
    assert lint("A reader knows.\n", '"page.md" = 2\n') == (0, "")


def test_prose_check_in_ci_records_no_number(lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert lint("A reader knows.\n", '"page.md" = 2\n') == (0, '"page.md" = 2\n')


def test_recorded_numbers_of_prose_findings_name_existing_places() -> None:
    kept = tomllib.loads(command.PERMITTED_COUNTS_FILE.read_text(encoding="utf-8"))
    assert set(kept) <= set(collect_texts_by_place(command.REPOSITORY_ROOT))
