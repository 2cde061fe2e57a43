"""What CONTRIBUTING.md shows of the suites is what stands there."""

from __future__ import annotations

import re

import pytest

from harness.paths import SUITES

TEXT = (SUITES.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
(ROW,) = re.findall(r'```toml\n(\["MQQB.*?)```', TEXT, re.DOTALL)


def text_of(pattern: str) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(SUITES.glob(pattern)))


@pytest.mark.parametrize(("number", "pattern"), [(0, "*/*/test_*.py"), (1, "*/*/faults*.py")])
def test_an_example_is_in_the_suites(number: int, pattern: str) -> None:
    assert EXAMPLES[number] in text_of(pattern)


def test_the_row_of_the_example_is_in_the_suites() -> None:
    lines = [line.partition("  ")[0] for line in ROW.splitlines() if not line.startswith(" ")]
    assert "\n".join(lines) in text_of("*/*/rules.toml")


def test_there_are_no_other_examples() -> None:
    assert len(EXAMPLES) == 2
