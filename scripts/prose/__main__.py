"""Check texts against the habits in `habits.toml` and the checks of proselint. For each room (a page, the rules of a
document, ...) that is not rewritten yet, `kept.toml` has the accepted number of findings. More findings are an error. A
smaller number is written to the file, except in CI, so that the numbers only fall.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.prose.linter import Finding, find
from scripts.prose.texts import rooms

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("kept.toml")
HEAD = "# Findings of rooms that are not rewritten yet. The counts only fall: `python -m scripts.prose` lowers them.\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings of the rooms with too many findings; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.prose", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", help="show all findings of these rooms, such as docs/attach.md")
    named = parser.parse_args(arguments).rooms
    texts = rooms(ROOT)
    if unknown := [room for room in named if room not in texts]:
        parser.error(f"no room {unknown[0]!r}; the rooms are: {', '.join(texts)}")
    found = find({room: texts[room] for room in named or texts})
    if named:
        _show(finding for findings in found.values() for finding in findings)
        return 0
    kept = tomllib.loads(KEPT.read_text(encoding="utf-8"))
    counts = {room: len(findings) for room, findings in found.items() if findings}
    worse = [room for room, count in counts.items() if count > kept.get(room, 0)]
    for room in worse:
        _show(found[room])
        print(f"{room}: {counts[room]} findings, at most {kept.get(room, 0)} are allowed: correct the new ones")
    lower = {room: counts.get(room, 0) for room in kept if counts.get(room, 0) < kept[room]}
    if lower and not worse and not os.environ.get("CI"):
        kept = {room: count for room, count in (kept | lower).items() if count}
        KEPT.write_text(HEAD + "".join(f'"{room}" = {kept[room]}\n' for room in sorted(kept)), encoding="utf-8")
        print(f"prose: {', '.join(f'{room} fell to {count}' for room, count in lower.items())}; commit {KEPT.name}")
    return 1 if worse else 0


def _show(findings: Iterable[Finding]) -> None:
    for finding in findings:
        where = f"{finding.text.file.relative_to(ROOT)}:{finding.text.line}"
        print(f"{where}: {finding.habit}: ...{finding.excerpt}...: {finding.instead}")


if __name__ == "__main__":
    sys.exit(main())
