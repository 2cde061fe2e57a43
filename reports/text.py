"""Strings from outside made safe to show: nothing invisible, nothing endless, no path in a name."""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import NamedTuple

TEXT_SHOWN = 2_000
"""Characters of one text that a page shows."""
DISSECTION_SHOWN = 8_000
"""Characters of one dissected packet that a page shows; session packets have up to 1,800."""
OCTETS_SHOWN = 1_024
"""Octets of one packet that a page shows."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would compute instead of show."""
SLUG_WORDS = 40
BESIDE = {"ROBUSTNESS": "Robustness", "REGRESSIONS": "Regressions"}
"""What is no document, and how it is called."""


def visible(text: str) -> str:
    """Return ``text`` with every control, bidirectional or other unprintable character written out as ⟨U+XXXX⟩."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else f"⟨U+{ord(char):04X}⟩" for char in text)


def one_line(text: str, limit: int = 200) -> str:
    """Return ``text`` for a terminal: visible, on one line, at most ``limit`` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def escape_formula(text: str) -> str:
    """Return a text for a cell of CSV, with an apostrophe before a formula: texts come from tested systems."""
    return f"'{text}" if text.startswith(FORMULA) else text


def clip(text: str, limit: int = TEXT_SHOWN, where: str = "in verdicts.jsonl of the run folder") -> str:
    """Return the beginning of a long text, saying that it was cut and where the whole text is."""
    return text if len(text) <= limit else f"{text[:limit]}… [cut here: the whole text is {where}]"


def folder_name(uri: str) -> str:
    """Return where a run folder is: the path of one on this machine, the address of another."""
    return uri.removeprefix("file://")


def system_label(name: str, version: str, profile: str) -> str:
    """Return how a system is called: the profile only where there is one."""
    return " ".join(filter(None, (name, version, shown_profile(profile))))


def shown_profile(profile: str) -> str:
    """Return a profile where it tells systems apart: "none" is that of a system that is no Windows release."""
    return "" if profile == "none" else profile


def repeat(rule: str) -> str:
    """Return the command that makes the checks of a rule again."""
    return f"mqconform run --rule {shlex.quote(rule)} --sut FILE"


def command_of(selection: str) -> str:
    """Return the command that makes a run with the same selection, as run.json has it."""
    words = "" if selection == "all" else selection
    source = "--topology FILE" if re.search(r"(?:^| )--topology(?: |$)", words) else "--sut FILE"
    words = re.sub(r"(?:^| )--topology(?= |$)", "", words).strip()
    words = re.sub(r"(?<!\S)-k (.+?)(?= -m |$)", lambda found: f"-k {shlex.quote(found[1])}", words)
    return " ".join(filter(None, ("mqconform run", source, words)))


class Check(NamedTuple):
    """A check: the file that it is in, and its name with its parameters."""

    path: str
    name: str


def check(test: str) -> Check:
    """Take the id of a test apart; what has no file is all name."""
    path, colons, name = test.partition("::")
    return Check(path, name) if colons else Check("", test)


def document_name(name: str) -> str:
    """Return how a document is called; what a run finds beside the documents has a name of its own."""
    return BESIDE.get(name, f"MS-{name}")


def is_specification(name: str) -> bool:
    """Return whether a document is one of the specifications, and not what a run finds beside them."""
    return name not in BESIDE


def slug(text: str) -> str:
    """Return a name for files, folders and anchors: [a-z0-9-] words, and 8 hexadecimal digits of the text's SHA-256."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", text)[:SLUG_WORDS].strip("-").lower()
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{words or 'x'}-{digest[:8]}"


def system_key(name: str, version: str, profile: str) -> str:
    """Return the key of a system under test: its words, and a digest in which "a b", "c" is not "a", "b c".

    The lake computes the same in Spark (`reports.lake.schemas.system_key`).
    """
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{name} {version} {profile}").removeprefix("-")[:SLUG_WORDS]
    parts = "".join(f"{len(part)}:{part}" for part in (name, version, profile))
    digest = hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()
    return f"{words.removesuffix('-').lower() or 'x'}-{digest[:8]}"


def section_key(section: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts "3.1.10" after "3.1.9"."""
    return tuple((int(part), "") if re.fullmatch(r"[0-9]{1,9}", part) else (0, part) for part in section.split("."))


def natural_key(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts "A-9" before "A-10"."""
    parts = re.split(r"([0-9]{1,9})", text)
    return tuple((int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts)
