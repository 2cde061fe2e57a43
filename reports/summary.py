"""The matrix for the terminal: documents and groups of sections down, SUT versions across."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from reports.model import Rollup, Sut
from reports.text import document_name, one_line
from reports.vocabulary import KINDS, NOT_JUDGED, WORST_FIRST, Kind

GROUP_DEPTH = 3
"""Sections 3.1.5.8.2 and 3.1.5.9 share the row 3.1.5."""


@dataclass(slots=True)
class MatrixRow:
    """One row: a group of sections of a document, or the whole document (``group`` empty)."""

    document: str
    group: str
    rules: int = 0
    counts: dict[Sut, Counter[str]] = field(default_factory=dict)

    def add(self, rules: int, counts: dict[Sut, Counter[str]]) -> None:
        """Count a section's rules in."""
        self.rules += rules
        for sut, counter in counts.items():
            self.counts.setdefault(sut, Counter()).update(counter)


def matrix_rows(rollup: Rollup) -> list[MatrixRow]:
    """Return the rows in the order of the documents, each document's total first."""
    rows: dict[tuple[str, str], MatrixRow] = {}
    for section in rollup.sections():
        group = ".".join(section.section.split(".")[:GROUP_DEPTH])
        for name in ("", group):
            row = rows.setdefault((section.document, name), MatrixRow(section.document, name))
            row.add(len(section.rules), section.counts())
    return list(rows.values())


def terminal_matrix(rollup: Rollup) -> Group:
    """Return the matrix and its legend for a rich console. Strings of a SUT are shown as text, never as markup."""
    table = Table(title="Rules by verdict", title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    table.add_column("Section")
    table.add_column("Rules", justify="right")
    for sut in rollup.suts:
        table.add_column(Text(one_line(f"{sut.name} {sut.version}", 32)))
    for row in matrix_rows(rollup):
        if not row.group and table.row_count:
            table.add_section()
        name = f"  {one_line(row.group, 30)}" if row.group else document_name(row.document)
        cells = [_counts(row.counts.get(sut), row.rules) for sut in rollup.suts]
        table.add_row(Text(name, style="" if row.group else "bold"), str(row.rules), *cells)
    legend = Text("  ").join(_chip(kind, f" {kind.label}") for kind in (*WORST_FIRST, NOT_JUDGED))
    return Group(table, legend)


def _counts(counts: Counter[str] | None, rules: int) -> Text:
    counts = counts or Counter()
    counts = counts + Counter({NOT_JUDGED.name: rules - counts.total()})
    return Text("  ").join(_chip(kind, f"{counts[name]}") for name, kind in KINDS.items() if counts[name])


def _chip(kind: Kind, words: str) -> Text:
    return Text(f"{kind.symbol}{words}", style=kind.terminal_style)  # one word, so that no line ends within it
