"""Writes suites/index.tsv from the ledger of rules: `.venv/bin/python scripts/index.py FOLDER`.

FOLDER contains the files of the ledger: rules.tsv, declared.*.tsv and classes.*.tsv. The index does not contain the
sentences that the ledger quotes from the documents.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.paths import SUITES
from harness.rules.catalogue import INDEX_COLUMNS, INDEX_FILE, INDEX_ROW_FORMS_IN_CATALOGUE


def read_ledger_table(file: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of one file of the ledger."""
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t")


def list_index_rows(ledger: Path) -> list[list[str]]:
    """Return the rows of the ledger by section, without the sentences of the documents. Declared rows come last in
    a section.
    """
    classes = {row["id"]: row for file in sorted(ledger.glob("classes.*.tsv")) for row in read_ledger_table(file)}
    rows = list(read_ledger_table(ledger / "rules.tsv"))
    declared = [row for file in sorted(ledger.glob("declared.*.tsv")) for row in read_ledger_table(file)]
    documents = list(dict.fromkeys(row["id"].split("-")[0] for row in rows))
    found = []
    for row in sorted(
        [*rows, *declared], key=lambda row: (documents.index(row["id"].split("-")[0]), _get_section_numbers(row["id"]))
    ):
        known = classes.get(
            row["id"], {"class": "demand" if row["form"] in INDEX_ROW_FORMS_IN_CATALOGUE else "", "of": ""}
        )
        found.append([row["id"], row["level"], row["form"], known["class"], known["of"], row["title"]])
    return found


def _get_section_numbers(rule: str) -> list[int]:
    return [int(part) for part in rule.split("-")[1].split(".")]


if __name__ == "__main__":
    lines = ["\t".join(row) + "\n" for row in [list(INDEX_COLUMNS), *list_index_rows(Path(sys.argv[1]))]]
    (SUITES / INDEX_FILE).write_text("".join(lines), encoding="utf-8")
