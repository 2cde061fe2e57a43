"""Formats the matrix for the terminal, with a row of verdicts for each system.

For a few systems, the matrix also shows the verdicts of each section. For more systems, it shows only the verdicts of
each document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.model import Pair, SiteContents, System, get_worst_verdict
from reports.roots import MAX_SHOWN_ROOT_CAUSES, format_root_causes
from reports.text import format_document_name, format_system_label, one_line
from reports.vocabulary import (
    DECIDED_VERDICTS,
    FINDING_VERDICTS,
    NOT_JUDGED_VERDICT_KIND,
    VERDICT_KIND_BY_NAME,
    VERDICT_KINDS_WORST_FIRST,
    VerdictKind,
)

SECTION_GROUP_DEPTH = 3
"""The number of parts of a section number that select its row in the matrix: with 3 parts, sections 3.1.5.8.2 and
3.1.5.9 share the row 3.1.5.
"""
MAX_SYSTEMS_WITH_SECTIONS = 3
"""The maximum number of systems whose sections fit in 80 columns."""
MAX_SYSTEMS_WITH_DOCUMENTS = 20
"""The maximum number of systems for which the worst verdict in each document is shown."""
MAX_SHOWN_SYSTEMS = 60
"""The maximum number of systems that have a row. If there are more systems, the systems with the most findings have
rows.
"""


@dataclass(slots=True)
class MatrixRow:
    """A row of the matrix, for a group of sections of a document, or for the whole document (``group`` is empty)."""

    document: str
    group: str
    rules: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, rules: int, counts: dict[str, Counter[str]]) -> None:
        """Add the rules of a section to the row."""
        self.rules += rules
        for system, counter in counts.items():
            self.counts.setdefault(system, Counter()).update(counter)


def build_matrix_rows(contents: SiteContents) -> list[MatrixRow]:
    """Return the rows in the order of the documents. The total of a document precedes its groups of sections."""
    rows: dict[tuple[str, str], MatrixRow] = {}
    for section in contents.sections():
        group = ".".join(section.section.split(".")[:SECTION_GROUP_DEPTH])
        for name in ("", group):
            row = rows.setdefault((section.document, name), MatrixRow(section.document, name))
            row.add(section.checked, section.counts)
    return list(rows.values())


def build_terminal_matrix(contents: SiteContents) -> Group:
    """Return the tables and the legend of the matrix for a rich console. Strings of a SUT are shown as text, never
    as markup.
    """
    legend = Text("  ").join(
        _format_verdict_count(kind, f" {kind.label}") for kind in (*VERDICT_KINDS_WORST_FIRST, NOT_JUDGED_VERDICT_KIND)
    )
    tables: list[RenderableType] = [
        _build_table_of_systems(contents),
        *([_build_table_of_pairs(contents)] if contents.pairs else []),
        legend,
    ]
    before_all_else = _describe_root_causes(contents)
    if len(contents.systems) <= MAX_SYSTEMS_WITH_SECTIONS:
        tables.insert(0, _build_tables_of_sections(contents))
    elif len(contents.systems) <= MAX_SYSTEMS_WITH_DOCUMENTS:
        tables.insert(0, _build_table_of_documents(contents))
    return Group(*before_all_else, *tables)


def _describe_root_causes(contents: SiteContents) -> list[Text]:
    """Return a line for each root cause of a system's latest run. Verdicts that depend on a root cause do not show
    whether the system conforms.
    """
    found = [
        Text(f"{_format_system_name(contents, system)}: {line}", style="bold")
        for system in sorted(contents.systems, key=lambda each: (each.name, each.profile, each.order))
        for run in contents.list_runs_of_system(system)[-1:]
        for line in format_root_causes(run.roots)
    ]
    more = len(found) - MAX_SHOWN_ROOT_CAUSES
    return found[:MAX_SHOWN_ROOT_CAUSES] + (
        [Text(f"and {more} more root causes: the site lists all of them")] if more > 0 else []
    )


def _build_table_of_systems(contents: SiteContents) -> Table:
    totals = contents.totals()
    judgeable = sum(section.checked for section in contents.sections())
    shown = sorted(contents.systems, key=lambda each: -sum(totals[each.key][name] for name in FINDING_VERDICTS))[
        :MAX_SHOWN_SYSTEMS
    ]
    left_out = len(contents.systems) - len(shown)
    table = Table(title="Systems", title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.caption = f"{left_out} more systems, with fewer findings" if left_out else None
    table.add_column("System", ratio=1, overflow="fold")
    table.add_column("Judged", justify="right", no_wrap=True)
    for kind in VERDICT_KINDS_WORST_FIRST:
        table.add_column(Text(kind.symbol, style=kind.terminal_style), justify="right", no_wrap=True)
    for system in sorted(shown, key=lambda each: (each.name, each.profile, each.order)):
        counts = totals[system.key]
        decided = sum(counts[name] for name in DECIDED_VERDICTS)
        share = f"{100 * decided // judgeable} %" if judgeable else "-"
        numbers = [Text(str(counts[kind.name] or ""), style=kind.terminal_style) for kind in VERDICT_KINDS_WORST_FIRST]
        table.add_row(_format_system_name(contents, system), share, *numbers)
    return table


def _build_table_of_documents(contents: SiteContents) -> Table:
    table = Table(title="Documents: the worst verdict, and the number of rules with it", title_justify="left")
    table.box, table.header_style, table.padding = SIMPLE_HEAD, "bold", (0, 1, 0, 0)
    table.add_column("System", ratio=1, overflow="fold")
    documents = [row for row in build_matrix_rows(contents) if not row.group]
    for row in documents:
        table.add_column(format_document_name(row.document), no_wrap=True)
    for system in sorted(contents.systems, key=lambda each: (each.name, each.profile, each.order)):
        table.add_row(
            _format_system_name(contents, system),
            *(_format_worst_cell(row.counts.get(system.key, Counter())) for row in documents),
        )
    return table


def _format_worst_cell(counts: Counter[str]) -> Text:
    if not any(counts.values()):
        return Text("")
    kind = VERDICT_KIND_BY_NAME[get_worst_verdict(counts)]
    return _format_verdict_count(kind, f" {counts[kind.name]}")


def _build_table_of_pairs(contents: SiteContents) -> Table:
    def get_attention_key(pair: Pair) -> tuple[int, ...]:
        return tuple(-pair.counts.get(name, 0) for name in FINDING_VERDICTS)

    pairs = sorted(contents.pairs, key=lambda each: (get_attention_key(each), each.a_name, each.b_name))
    table = Table(title="Pairs", title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    left_out = len(pairs) - MAX_SHOWN_SYSTEMS
    table.caption = f"{left_out} more pairs, with fewer findings" if left_out > 0 else None
    for name in ("System", "as", "with"):
        table.add_column(name, overflow="fold")
    table.add_column("Rules by verdict")
    for one in pairs[:MAX_SHOWN_SYSTEMS]:
        numbers = Text("  ").join(
            _format_verdict_count(kind, str(one.counts[kind.name]))
            for kind in VERDICT_KINDS_WORST_FIRST
            if one.counts.get(kind.name)
        )
        table.add_row(*(Text(one_line(each, 40)) for each in (one.a_name, one.role, one.b_name)), numbers)
    return table


def _build_tables_of_sections(contents: SiteContents) -> Group:
    table = Table(title="Rules by verdict", title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    table.add_column("Section", no_wrap=True)
    table.add_column("Rules", justify="right")
    for system in contents.systems:
        table.add_column(_format_system_name(contents, system))
    rows = build_matrix_rows(contents)
    shown = [row for row in rows if not row.group or any(row.counts.values())]
    left_out = len(rows) - len(shown)
    for row in shown:
        if not row.group and table.row_count:
            table.add_section()
        name = f"  {one_line(row.group, 30)}" if row.group else format_document_name(row.document)
        cells = [_format_counts_cell(row.counts.get(system.key), row.rules) for system in contents.systems]
        table.add_row(Text(name, style="" if row.group else "bold"), str(row.rules), *cells)
    words = f"{left_out} groups of sections without a judged rule are omitted\n" if left_out else ""
    return Group(table, Text(words, style="dim"))


def _format_system_name(contents: SiteContents, system: System) -> Text:
    """Return the display name of a system, with a mark if the latest run of the system is partial.

    Each part of a long name is shortened separately, so that the versions stay distinguishable.
    """
    name, version, profile = one_line(system.name, 60), one_line(system.version, 24), one_line(system.profile, 24)
    lacking = any(run.lacking for run in contents.list_runs_of_system(system)[-1:])
    return Text(format_system_label(name, version, profile) + (" (partial)" if lacking else ""))


def _format_counts_cell(counts: Counter[str] | None, rules: int) -> Text:
    counts = counts or Counter()
    counts = counts + Counter({NOT_JUDGED_VERDICT_KIND.name: rules - counts.total()})
    return Text("  ").join(
        _format_verdict_count(kind, f"{counts[name]}") for name, kind in VERDICT_KIND_BY_NAME.items() if counts[name]
    )


def _format_verdict_count(kind: VerdictKind, words: str) -> Text:
    return Text(f"{kind.symbol}{words}", style=kind.terminal_style)  # one word, so that no line breaks within it
