"""Checks texts against the habits in `habits.toml` and the checks of proselint.

For each place with findings (a page, the rules of a document, ...), `kept.toml` contains the permitted number of
findings. More findings are an error. If a place has fewer findings, the new number is written to the file, except in
CI. So the numbers never increase.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.prose.linter import Finding, lint_texts_by_place
from scripts.prose.texts import collect_texts_by_place

REPOSITORY_ROOT = Path(__file__).resolve().parents[2]
PERMITTED_COUNTS_FILE = Path(__file__).with_name("kept.toml")
PERMITTED_COUNTS_HEADER = (
    "# The permitted number of findings of each place. Only decreases are permitted: "
    "`python -m scripts.prose` writes them.\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings of the places that have too many findings, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.prose", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("places", nargs="*", help="show all findings of these places, such as docs/attach.md")
    named = parser.parse_args(arguments).places
    texts = collect_texts_by_place(REPOSITORY_ROOT)
    if unknown := [place for place in named if place not in texts]:
        parser.error(f"no place {unknown[0]!r}; the places are: {', '.join(texts)}")
    found = lint_texts_by_place({place: texts[place] for place in named or texts})
    if named:
        _print_findings(finding for findings in found.values() for finding in findings)
        return 0
    kept = tomllib.loads(PERMITTED_COUNTS_FILE.read_text(encoding="utf-8"))
    counts = {place: len(findings) for place, findings in found.items() if findings}
    worse = [place for place, count in counts.items() if count > kept.get(place, 0)]
    for place in worse:
        _print_findings(found[place])
        print(f"{place}: {counts[place]} findings, at most {kept.get(place, 0)} are allowed: correct the new ones")
    lower = {place: counts.get(place, 0) for place in kept if counts.get(place, 0) < kept[place]}
    if lower and not worse and not os.environ.get("CI"):
        kept = {place: count for place, count in (kept | lower).items() if count}
        PERMITTED_COUNTS_FILE.write_text(
            PERMITTED_COUNTS_HEADER + "".join(f'"{place}" = {kept[place]}\n' for place in sorted(kept)),
            encoding="utf-8",
        )
        fallen = ", ".join(f"{place} fell to {count}" for place, count in lower.items())
        print(f"prose: {fallen}; commit {PERMITTED_COUNTS_FILE.name}")
    return 1 if worse else 0


def _print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        where = f"{finding.text.file.relative_to(REPOSITORY_ROOT)}:{finding.text.line}"
        print(f"{where}: {finding.habit}: ...{finding.excerpt}...: {finding.advice}")


if __name__ == "__main__":
    sys.exit(main())
