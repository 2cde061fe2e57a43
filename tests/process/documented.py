"""Reads a page of the documentation as steps: files to write, commands to run, and their documented output."""

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
"""A line of documented output that stands for any number of lines."""


@dataclass(frozen=True)
class Written:
    """A step: a file whose content the page shows."""

    path: str
    text: str


@dataclass
class Command:
    """A step: a command that the page shows after ``$``, with its documented output."""

    line: str
    output: list[str] = field(default_factory=list)


def steps_of(page: str) -> list[Written | Command]:
    """Return the steps that a page documents, in the order of the page. Indented blocks without ``$`` are
    not commands.
    """
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
    """Return the first documented line that the output lacks, or None. Different numbers and blank lines do not count
    as differences.
    """
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
