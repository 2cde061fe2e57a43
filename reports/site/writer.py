"""Writes the whole site, including the pages that concern all systems."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from reports.captures import CaptureStore
from reports.errata import Erratum
from reports.model import (
    RULE_KIND_OF_DEMAND,
    RULE_KINDS_COUNTED_AS_DEMANDS,
    CoverageOfSection,
    Rule,
    Run,
    Section,
    SiteContents,
    System,
    get_worst_verdict,
    sum_counts,
)
from reports.site import names
from reports.site.downloads import write_table
from reports.site.errata_pages import write_errata
from reports.site.news import VerdictChangesOfRun
from reports.site.pages import (
    SitePageWriter,
    StageReporter,
    change,
    count_decided,
    count_rules_needing_attention,
    get_table_width_class,
)
from reports.site.pair_page import write_pairs
from reports.site.rule_lists import write_rule_lists
from reports.site.rule_pages import write_rule_pages
from reports.site.run_pages import write_changes, write_logs, write_runs
from reports.site.system_pages import write_system_pages
from reports.text import make_slug
from reports.values import ValueNameAdder
from reports.vocabulary import FINDING_VERDICTS, VERDICT_NAMES

SITE_FOLDERS = ("sections", "rules", "systems", "documents", "runs", "errata", "data", "badges")
STATIC_SITE_FILES = ("style.css", "elements.js", "search.js", "compare.js")
MAX_DOCUMENTS_WITHOUT_SCROLLING = 7
"""The number of documents above which the table of the first page scrolls in a box. The columns are narrow, because
names of documents are short.
"""
MAX_SHOWN_SYSTEM_CARDS = 24
"""The maximum number of systems with a card. If there are more systems, only the newest version of each product has
a card. Systems with the most findings come first.
"""


def write_site(
    contents: SiteContents,
    captures: CaptureStore,
    stage: StageReporter = lambda *_: None,
    errata: dict[str, Erratum] | None = None,
    named: ValueNameAdder = str,
) -> list[str]:
    """Write all pages below ``captures.site``, and replace old pages. Return the captures that verdicts name but that
    are missing in the run folders.

    ``named``: the function that adds symbolic names to the numbers in expected and observed values.
    """
    site = captures.site
    shutil.rmtree(site, ignore_errors=True)
    for folder in SITE_FOLDERS:
        (site / folder).mkdir(parents=True)
    for name in STATIC_SITE_FILES:
        shutil.copyfile(Path(__file__).parents[1] / "static" / name, site / name)
    pages = SitePageWriter(contents, site, captures, errata, named)
    pages.news = write_changes(pages)
    write_logs(pages)
    write_rule_pages(pages, stage)
    write_system_pages(pages, stage)
    stage("pages of documents", 0, 0)
    _write_documents(pages)
    _write_sections(pages, stage)
    stage("lists", 0, 0)
    _write_index(pages)
    write_rule_lists(pages)
    write_errata(pages)
    write_runs(pages)
    write_pairs(pages)
    _write_coverage(pages)
    return captures.missing_captures


def _group_sections_by_document(pages: SitePageWriter) -> dict[str, list[Section]]:
    documents: dict[str, list[Section]] = {}
    for section in pages.sections:
        documents.setdefault(section.document, []).append(section)
    return documents


def _write_index(pages: SitePageWriter) -> None:
    documents = _group_sections_by_document(pages)
    cells: dict[tuple[str, str], Counter[str]] = {
        (name, system.key): sum_counts(section.counts.get(system.key, Counter()) for section in sections)
        for name, sections in documents.items()
        for system in pages.systems
    }
    failing = {system.key: _count_newly_failing(pages, system) for system in pages.systems}
    cards = _choose_systems_with_card(pages)
    (pages.site / names.DOCUMENTS_STYLE_FILE).write_text(
        "".join(map(_build_css_of_single_document, documents)), encoding="ascii"
    )
    pages.write(
        "index.html",
        names.INDEX_PAGE,
        documents={name: sum(section.checked for section in sections) for name, sections in documents.items()},
        cells=cells,
        leads_to={
            (name, system.key): _get_link_of_cell(name, system, pages.get_page_number(system), cells[name, system.key])
            for system in pages.systems
            for name in documents
        },
        cards=cards,
        news=_collect_verdict_news(pages, cards),
        most_cards=MAX_SHOWN_SYSTEM_CARDS,
        newly_failing=failing,
        wide=get_table_width_class(len(documents), MAX_DOCUMENTS_WITHOUT_SCROLLING),
    )
    columns = ("system", "name", "version", "profile", "rules", "judged", "newly_failing", *VERDICT_NAMES)
    write_table(
        pages.site,
        "systems",
        columns,
        (
            (
                *(system.key, system.name, system.version, system.profile, pages.judgeable),
                *(count_decided(pages.totals[system.key]), failing[system.key]),
                *(pages.totals[system.key][name] for name in VERDICT_NAMES),
            )
            for system in pages.systems
        ),
    )


def _collect_verdict_news(
    pages: SitePageWriter, systems: list[System]
) -> list[tuple[System, Run, VerdictChangesOfRun]]:
    """Return the changes of verdicts by the latest run of each system. Runs that changed no verdict are omitted."""
    latest = ((system, pages.latest[system.key]) for system in systems if system.key in pages.latest)
    return [(system, run, pages.news[run.run]) for system, run in latest if run.run in pages.news]


def _get_link_of_cell(document: str, system: System, part: int, counts: Counter[str]) -> str:
    """Return the link target for the matrix cell of a document and a system. The target is the list of the system's
    findings in this document or, without findings, the page of the document's sections.
    """
    if get_worst_verdict(counts) in FINDING_VERDICTS:
        return f"{names.name_system_page(system)}#{names.name_document_anchor(document)}"
    return names.name_document_page(document, part)


def _build_css_of_single_document(document: str) -> str:
    """Return the CSS rule for a link to one document on a system's page: while the anchor of the document is the
    target, the findings of all other documents are hidden.
    """
    name = names.name_document_anchor(document)
    shown = f"body:has(#{name}:target)"
    return (
        f"{shown} .of:not(.{name}), {shown} .of-all {{ display: none; }}\n"
        f"{shown} .of-one.{name} {{ display: inline; }}\n"
    )


def _count_newly_failing(pages: SitePageWriter, system: System) -> int:
    if not (before := pages.before[system.key]):
        return 0
    rows = zip(pages.stands.row(before.key), pages.stands.row(system.key), strict=True)
    return sum(verdict == "fail" and change(was, verdict) != "" for was, verdict in rows)


def _choose_systems_with_card(pages: SitePageWriter) -> list[System]:
    if len(pages.systems) <= MAX_SHOWN_SYSTEM_CARDS:
        return pages.systems
    newest = {system.product: system for system in sorted(pages.systems, key=lambda each: each.order)}
    return sorted(newest.values(), key=lambda each: -count_rules_needing_attention(pages.totals[each.key]))[
        :MAX_SHOWN_SYSTEM_CARDS
    ]


def _write_documents(pages: SitePageWriter) -> None:
    parts = pages.columns()
    for name, sections in _group_sections_by_document(pages).items():
        table = f"document-{make_slug(name)}"
        for part, systems in enumerate(parts):
            pages.write(
                "document.html",
                names.name_document_page(name, part),
                document=name,
                sections=[(section, sum_counts(section.counts.values())) for section in sections],
                columns=systems,
                column_parts=parts,
                part=part,
                page_of=lambda part, name=name: "../" + names.name_document_page(name, part),
                table=table,
                wide=get_table_width_class(len(systems)),
            )
        write_table(
            pages.site,
            table,
            ("document", "section", "title", "system", "verdict", "rules"),
            (
                (name, section.section, section.title, key, verdict, number)
                for section in sections
                for key, counts in section.counts.items()
                for verdict, number in counts.items()
            ),
        )


def _write_sections(pages: SitePageWriter, stage: StageReporter) -> None:
    parts = pages.columns()
    for number, section in enumerate(pages.sections):
        stage("pages of sections", number, len(pages.sections))
        table = f"section-{section.slug}"
        for part, systems in enumerate(parts):
            pages.write(
                "section.html",
                names.name_section_page(section, part),
                section=section,
                rules=_sort_findings_first(pages, section, systems),
                columns=systems,
                column_parts=parts,
                part=part,
                page_of=partial(_name_section_page, section),
                stands=pages.stands,
                table=table,
                wide=get_table_width_class(len(systems)),
            )
        columns = ("rule", "level", "says", *(system.key for system in pages.systems))
        write_table(pages.site, table, columns, _build_section_rows(pages, section))


def _sort_findings_first(pages: SitePageWriter, section: Section, systems: list[System]) -> list[Rule]:
    """Return the rules of a section. Rules with a finding on the page come first, the worst first."""
    last = len(FINDING_VERDICTS)

    def get_sort_place(rule: Rule) -> int:
        verdicts = (pages.stands.get(system.key, rule.rule) for system in systems)
        return min(
            (FINDING_VERDICTS.index(verdict) for verdict in verdicts if verdict in FINDING_VERDICTS), default=last
        )

    return sorted(section.rules, key=get_sort_place)


def _name_section_page(section: Section, part: int) -> str:
    return "../" + names.name_section_page(section, part)


def _build_section_rows(pages: SitePageWriter, section: Section) -> Iterator[tuple[object, ...]]:
    for rule in section.rules:
        verdicts = (pages.stands.get(system.key, rule.rule) for system in pages.systems)
        yield rule.rule, rule.level, rule.says, *verdicts


def _write_coverage(pages: SitePageWriter) -> None:
    documents: dict[str, list[CoverageOfSection]] = {}
    beside: dict[str, dict[str, list[CoverageOfSection]]] = {}
    rules: dict[tuple[str, str, str], list[Rule]] = {}
    for one in pages.contents.coverage:
        if one.kind == RULE_KIND_OF_DEMAND:
            documents.setdefault(one.document, []).append(one)
        else:
            beside.setdefault(one.document, {}).setdefault(one.kind, []).append(one)
    for rule in pages.rules:
        if rule.kind in RULE_KINDS_COUNTED_AS_DEMANDS:
            demand = "SHOULD" if rule.level.startswith("SHOULD") else "MUST"
            rules.setdefault((rule.document, rule.section, demand), []).append(rule)
    pages.write("coverage.html", names.COVERAGE_PAGE, documents=documents, beside=beside, rules=rules)
    columns = ("document", "section", "title", "demand", "kind", "rows", "checked", "proven", "none", "open")
    if documents:
        rows = (tuple(getattr(one, name) for name in columns) for one in pages.contents.coverage)
        write_table(pages.site, "coverage", columns, rows)
    if members := pages.contents.members:
        of_members = ("name", "title", "exercised", "reference", "left_out")
        write_table(
            pages.site, "members", of_members, (tuple(getattr(one, name) for name in of_members) for one in members)
        )
