"""Reads a page of the documentation as something to carry out: files to write, commands, what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_STEP = re.compile(
    r"^`(?P<path>[^`\n]+)`:\n\n```\w*\n(?P<text>.*?)^```$"  # a file: its path, then its content
    r"|(?P<session>(?:^ {4}[^\n]*\n)+)",  # commands, each with its output
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"(?<![\w.-])\d[\d.,]*(?=s?(?![\w.-]))")
ANYTHING = "..."
"""A line of the output that stands for any number of lines."""


@dataclass(frozen=True)
class Written:
    """A file that the page shows."""

    path: str
    text: str


@dataclass
class Command:
    """A command that the page shows after ``$``, and its documented output."""

    line: str
    output: list[str] = field(default_factory=list)


def steps_of(page: str) -> list[Written | Command]:
    """Return the steps that a page documents, in its order. Indented blocks without ``$`` are not commands."""
    steps: list[Written | Command] = []
    for found in _STEP.finditer(page):
        if found["path"]:
            steps.append(Written(found["path"], found["text"]))
        elif found["session"].lstrip().startswith("$ "):
            for line in found["session"].splitlines():
                if line.startswith("    $ "):
                    steps.append(Command(line.removeprefix("    $ ")))
                else:
                    steps[-1].output.append(line.removeprefix("    "))  # type: ignore[union-attr]
    return steps


def differs(said: list[str], done: list[str]) -> str | None:
    """Return the first line that should have come and did not; numbers may be others, blank lines do not count."""
    lines = iter([_plain(line) for line in done if line.strip()])
    skipped = False
    for wanted in filter(str.strip, said):
        if wanted.strip() == ANYTHING:
            skipped = True
            continue
        came = (line for line in lines if line == _plain(wanted)) if skipped else lines
        if next(came, None) != _plain(wanted):
            return wanted
        skipped = False
    left = next(lines, None)
    return None if left is None or skipped else f"nothing more, but {left!r} came"


def _plain(line: str) -> str:
    return _NUMBER.sub("N", line.rstrip())
