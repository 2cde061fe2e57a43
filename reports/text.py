"""Makes untrusted texts safe to show: limits their length, makes invisible characters visible, and keeps paths out of
names.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import NamedTuple

MAX_SHOWN_CHARACTERS = 2_000
"""The maximum number of characters of a text that a page shows."""
MAX_DISSECTION_CHARACTERS = 8_000
"""The maximum number of characters of a dissection that a page shows. The dissections of session packets have up to
1,800 characters.
"""
MAX_SHOWN_OCTETS = 1_024
"""The maximum number of octets of a packet that a page shows."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of a cell that a spreadsheet would interpret as a formula."""
MAX_SLUG_CHARACTERS = 40
TITLE_BY_RULE_GROUP = {"ROBUSTNESS": "Robustness", "REGRESSIONS": "Regressions"}
"""The display names of the groups of rules that belong to no document."""


def escape_unprintable_characters(text: str) -> str:
    """Return ``text`` with every control, bidirectional or other unprintable character replaced by ⟨U+XXXX⟩."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else f"⟨U+{ord(char):04X}⟩" for char in text)


def one_line(text: str, limit: int = 200) -> str:
    """Return ``text`` for a terminal: on one line, with visible characters only, and with at most ``limit``
    characters.
    """
    line = " ".join(escape_unprintable_characters(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def escape_formula(text: str) -> str:
    """Return a text for a cell of CSV. A text that looks like a formula gets a leading apostrophe, because tested
    systems choose the texts.
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def clip_text(text: str, limit: int = MAX_SHOWN_CHARACTERS, where: str = "in verdicts.jsonl of the run folder") -> str:
    """Return the beginning of a long text, with a note that says where the whole text can be found."""
    return text if len(text) <= limit else f"{text[:limit]}… [cut here: the whole text is {where}]"


def get_run_folder_location(uri: str) -> str:
    """Return the place of a run folder: the path of a local folder, or the URL of a remote folder."""
    return uri.removeprefix("file://")


def format_system_label(name: str, version: str, profile: str) -> str:
    """Return the display name of a system, followed by its profile if it has a profile."""
    return " ".join(filter(None, (name, version, shown_profile(profile))))


def shown_profile(profile: str) -> str:
    """Return the profile to display, or an empty text if the profile is "none" (no Windows release)."""
    return "" if profile == "none" else profile


def format_repeat_command(rule: str) -> str:
    """Return the command that repeats the checks of a rule."""
    return f"mqconform run --rule {shlex.quote(rule)} --sut FILE"


def format_run_command(selection: str) -> str:
    """Return the command that repeats a run with the selection that run.json records."""
    words = "" if selection == "all" else selection
    source = "--topology FILE" if re.search(r"(?:^| )--topology(?: |$)", words) else "--sut FILE"
    words = re.sub(r"(?:^| )--topology(?= |$)", "", words).strip()
    words = re.sub(r"(?<!\S)-k (.+?)(?= -m |$)", lambda found: f"-k {shlex.quote(found[1])}", words)
    return " ".join(filter(None, ("mqconform run", source, words)))


class Check(NamedTuple):
    """A check: its file, and its function name with parameters."""

    path: str
    name: str


def shorten_check_id(test: str) -> Check:
    """Split the id of a check into the file and the name of the check. If the id contains no file, the whole id is the
    name.
    """
    path, colons, name = test.partition("::")
    return Check(path, name) if colons else Check("", test)


def format_document_name(name: str) -> str:
    """Return the display name of a document, or of a group of rules that belongs to no document."""
    return TITLE_BY_RULE_GROUP.get(name, f"MS-{name}")


def is_specification(name: str) -> bool:
    """Return whether a document is one of the specifications."""
    return name not in TITLE_BY_RULE_GROUP


def make_slug(text: str) -> str:
    """Return a name for files, folders and anchors: the words of a text, which consist of [a-z0-9-], and 8 hexadecimal
    digits of the text's SHA-256.
    """
    words = re.sub(r"[^A-Za-z0-9]+", "-", text)[:MAX_SLUG_CHARACTERS].strip("-").lower()
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{words or 'x'}-{digest[:8]}"


def build_system_key(name: str, version: str, profile: str) -> str:
    """Return the key of a system under test. The key consists of words of the system's name and a digest, which
    distinguishes "a b", "c" from "a", "b c".

    The lake computes the same key in Spark (`reports.lake.schemas.compute_system_key`).
    """
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{name} {version} {profile}").removeprefix("-")[:MAX_SLUG_CHARACTERS]
    parts = "".join(f"{len(part)}:{part}" for part in (name, version, profile))
    digest = hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()
    return f"{words.removesuffix('-').lower() or 'x'}-{digest[:8]}"


def get_section_sort_key(section: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that puts "3.1.10" after "3.1.9"."""
    return tuple((int(part), "") if re.fullmatch(r"[0-9]{1,9}", part) else (0, part) for part in section.split("."))


def get_natural_sort_key(text: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that puts "A-9" before "A-10"."""
    parts = re.split(r"([0-9]{1,9})", text)
    return tuple((int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts)
