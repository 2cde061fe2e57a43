"""The site as a whole: which pages there are, and those that show all systems."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from reports.captures import CaptureStore
from reports.model import DEMAND, DEMANDS, Contents, Coverage, Rule, Run, Section, System, added
from reports.site import names
from reports.site.downloads import write_table
from reports.site.pages import COLUMNS_THAT_FIT, Pages, Stage, attention, decided
from reports.site.rule_pages import write_rule_pages
from reports.site.system_pages import write_system_pages
from reports.text import slug
from reports.vocabulary import SEVERITY, VERDICTS

FOLDERS = ("sections", "rules", "systems", "documents", "data", "badges")
STATIC = ("style.css", "search.js")
CARDS = 24
"""Systems that have a card each; of more, the newest of each product, those with most to look at first."""


def write_site(contents: Contents, captures: CaptureStore, stage: Stage = lambda *_: None) -> list[str]:
    """Write the pages of ``captures.site`` anew; return the captures that verdicts point at and no run folder has."""
    site = captures.site
    shutil.rmtree(site, ignore_errors=True)
    for folder in FOLDERS:
        (site / folder).mkdir(parents=True)
    for name in STATIC:
        shutil.copyfile(Path(__file__).parents[1] / "static" / name, site / name)
    pages = Pages(contents, site, captures)
    write_rule_pages(pages, stage)
    write_system_pages(pages, stage)
    stage("pages of documents and sections", 0, 0)
    _write_documents(pages)
    _write_sections(pages)
    stage("lists", 0, 0)
    _write_index(pages)
    _write_search(pages)
    _write_errata(pages)
    _write_runs(pages)
    _write_coverage(pages)
    return captures.missing


def _documents(pages: Pages) -> dict[str, list[Section]]:
    documents: dict[str, list[Section]] = {}
    for section in pages.sections:
        documents.setdefault(section.document, []).append(section)
    return documents


def _write_index(pages: Pages) -> None:
    documents = _documents(pages)
    cells: dict[tuple[str, str], Counter[str]] = {
        (name, system.key): added(section.counts.get(system.key, Counter()) for section in sections)
        for name, sections in documents.items()
        for system in pages.systems
    }
    failing = {
        system.key: sum(
            pages.change(system.key, rule.rule, verdict) == "newly failing"
            for rule in pages.rules
            if (verdict := pages.standings.get(system.key, rule.rule))
        )
        if pages.before[system.key]
        else 0
        for system in pages.systems
    }
    pages.write(
        "index.html",
        names.INDEX,
        documents={name: sum(len(section.rules) for section in sections) for name, sections in documents.items()},
        cells=cells,
        cards=_with_card(pages),
        newly_failing=failing,
        wide=_wide(len(documents)),
    )
    columns = ("system", "name", "version", "profile", "rules", "judged", "newly_failing", *VERDICTS)
    write_table(
        pages.site,
        "systems",
        columns,
        (
            (
                *(system.key, system.name, system.version, system.profile, pages.judgeable),
                *(decided(pages.totals[system.key]), failing[system.key]),
                *(pages.totals[system.key][name] for name in VERDICTS),
            )
            for system in pages.systems
        ),
    )


def _with_card(pages: Pages) -> list[System]:
    if len(pages.systems) <= CARDS:
        return pages.systems
    newest = {system.product: system for system in sorted(pages.systems, key=lambda each: each.order)}
    return sorted(newest.values(), key=lambda each: -attention(pages.totals[each.key]))[:CARDS]


def _write_documents(pages: Pages) -> None:
    parts = pages.columns()
    for name, sections in _documents(pages).items():
        table = f"document-{slug(name)}"
        for part, systems in enumerate(parts):
            pages.write(
                "document.html",
                names.document_page(name, part),
                document=name,
                sections=[(section, added(section.counts.values())) for section in sections],
                columns=systems,
                column_parts=parts,
                part=part,
                page_of=lambda part, name=name: "../" + names.document_page(name, part),
                table=table,
                wide=_wide(len(systems)),
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


def _write_sections(pages: Pages) -> None:
    parts = pages.columns()
    for section in pages.sections:
        table = f"section-{section.slug}"
        for part, systems in enumerate(parts):
            pages.write(
                "section.html",
                names.section_page(section, part),
                section=section,
                columns=systems,
                column_parts=parts,
                part=part,
                page_of=partial(_section_part, section),
                standings=pages.standings,
                table=table,
                wide=_wide(len(systems)),
            )
        write_table(pages.site, table, ("rule", "level", "says", "system", "verdict"), _section_rows(pages, section))


def _section_part(section: Section, part: int) -> str:
    return "../" + names.section_page(section, part)


def _section_rows(pages: Pages, section: Section) -> Iterator[tuple[object, ...]]:
    for rule in section.rules:
        for system in pages.systems:
            yield rule.rule, rule.level, rule.says, system.key, pages.standings.get(system.key, rule.rule)


def _write_search(pages: Pages) -> None:
    rows = [(rule, _verdicts_of(pages, rule)) for rule in pages.rules]
    sections = {rule.rule: section for section in pages.sections for rule in section.rules}
    pages.write(
        "rules.html",
        names.RULES,
        rows=[(rule, counts, min(counts, key=SEVERITY.__getitem__, default="not_judged")) for rule, counts in rows],
        sections=sections,
        levels=sorted({rule.level for rule in pages.rules}),
    )
    columns = ("rule", "document", "section", "level", "observe", "says", *VERDICTS)
    write_table(
        pages.site,
        "rules",
        columns,
        (
            (rule.rule, rule.document, rule.section, rule.level, rule.observe, rule.says, *map(counts.get, VERDICTS))
            for rule, counts in rows
        ),
    )


def _verdicts_of(pages: Pages, rule: Rule) -> Counter[str]:
    verdicts = (pages.standings.get(system.key, rule.rule) for system in pages.systems)
    return Counter(verdict for verdict in verdicts if verdict)


def _write_errata(pages: Pages) -> None:
    pages.write("errata.html", names.ERRATA, cited=dict(sorted(pages.cited.items())), by_key=pages.by_key)
    rows = (
        (entry, rule, key)
        for entry, rules in sorted(pages.cited.items())
        for rule, keys in rules.items()
        for key in keys
    )
    write_table(pages.site, "errata", ("erratum", "rule", "system"), rows)


def _write_runs(pages: Pages) -> None:
    runs = sorted(pages.contents.runs, key=lambda run: run.ingest, reverse=True)
    pages.write("runs.html", names.RUNS, runs=runs, by_key=pages.by_key)
    write_table(pages.site, "runs", (*_RUN_COLUMNS, *VERDICTS), map(_run_row, runs))
    columns = ("name", "profile", "rule", "run", "started", "version", "verdict", "version_before", "verdict_before")
    changes = (tuple(getattr(change, name) for name in columns) for change in pages.contents.changes())
    write_table(pages.site, "changes", columns, changes)


_RUN_COLUMNS = ("run", "system", "started", "finished", "reach", "selection", "exit", "lacking", "kept", "rejected")


def _run_row(run: Run) -> tuple[object, ...]:
    return *(getattr(run, name) for name in _RUN_COLUMNS), *(run.counts.get(name, 0) for name in VERDICTS)


def _write_coverage(pages: Pages) -> None:
    documents: dict[str, list[Coverage]] = {}
    beside: dict[str, dict[str, list[Coverage]]] = {}
    rules: dict[tuple[str, str, str], list[Rule]] = {}
    for one in pages.contents.coverage:
        if one.kind == DEMAND:
            documents.setdefault(one.document, []).append(one)
        else:
            beside.setdefault(one.document, {}).setdefault(one.kind, []).append(one)
    for rule in pages.rules:
        if rule.kind in DEMANDS:
            demand = "SHOULD" if rule.level.startswith("SHOULD") else "MUST"
            rules.setdefault((rule.document, rule.section, demand), []).append(rule)
    pages.write("coverage.html", names.COVERAGE, documents=documents, beside=beside, rules=rules)
    columns = ("document", "section", "title", "demand", "kind", "rows", "checked", "proven", "none", "open")
    rows = (tuple(getattr(one, name) for name in columns) for one in pages.contents.coverage)
    write_table(pages.site, "coverage", columns, rows)


def _wide(columns: int) -> str:
    return " wide" if columns > COLUMNS_THAT_FIT else ""
