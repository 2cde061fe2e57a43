"""Writes the pages that list rules (findings first, then section by section), and the data of their two scripts."""

from __future__ import annotations

import json
from collections import Counter

from reports.model import Rule, Section, System, sum_counts
from reports.site import names
from reports.site.downloads import write_table
from reports.site.pages import SitePageWriter
from reports.text import clip_text, escape_unprintable_characters, format_system_label
from reports.vocabulary import (
    FINDING_VERDICTS,
    NOT_JUDGED_VERDICT_KIND,
    SEVERITY_BY_VERDICT,
    VERDICT_KIND_BY_NAME,
    VERDICT_NAMES,
)

MAX_NAMED_FINDINGS = 200
"""The maximum number of rules with findings that the page names. The sections and the search show all rules."""
_SENTENCE_CHARACTERS = 300
_LETTER_BY_VERDICT_KIND = {name: str(number) for number, name in enumerate(VERDICT_KIND_BY_NAME)}


def write_rule_lists(pages: SitePageWriter) -> None:
    """Write the page of all rules, the page that compares two systems, and their tables."""
    rows = [(rule, _count_verdicts(pages, rule)) for rule in pages.rules]
    looked_at = [(rule, counts) for rule, counts in rows if any(counts[name] for name in FINDING_VERDICTS)]
    worst_first = sorted(
        looked_at, key=lambda row: min(SEVERITY_BY_VERDICT[name] for name, number in row[1].items() if number)
    )
    documents: dict[str, list[tuple[Section, Counter[str]]]] = {}
    for section in pages.sections:
        documents.setdefault(section.document, []).append((section, sum_counts(section.counts.values())))
    pages.write(
        "rules.html",
        names.RULES_PAGE,
        first=worst_first[:MAX_NAMED_FINDINGS],
        left_out=max(0, len(worst_first) - MAX_NAMED_FINDINGS),
        documents=documents,
        levels=sorted({rule.level for rule in pages.rules}),
    )
    if len(pages.systems) > 1:
        pages.write("compare.html", names.COMPARE_PAGE, chosen=_choose_compared_systems(pages))
    _write_script_data(pages)
    columns = ("rule", "document", "section", "level", "observe", "says", *VERDICT_NAMES)
    write_table(
        pages.site,
        "rules",
        columns,
        (
            (
                rule.rule,
                rule.document,
                rule.section,
                rule.level,
                rule.observe,
                rule.says,
                *map(counts.get, VERDICT_NAMES),
            )
            for rule, counts in rows
        ),
    )


def _count_verdicts(pages: SitePageWriter, rule: Rule) -> Counter[str]:
    return Counter(pages.stands.get(system.key, rule.rule) or NOT_JUDGED_VERDICT_KIND.name for system in pages.systems)


def _choose_compared_systems(pages: SitePageWriter) -> tuple[str, str]:
    """Return the keys of the two systems that the page compares until the reader selects others: the newest system and
    its previous version.
    """
    newest = max(pages.systems, key=lambda system: system.order)
    other = pages.before[newest.key] or next(system for system in pages.systems if system is not newest)
    return other.key, newest.key


def _write_script_data(pages: SitePageWriter) -> None:
    """Write the data that the scripts on the pages use. For each system, the data has one digit per rule: the
    index of the rule's verdict in VERDICTS.
    """
    sections = {rule.rule: section for section in pages.sections for rule in section.rules}
    values: dict[str, object] = {
        "VERDICTS": [[name, kind.symbol, kind.label] for name, kind in VERDICT_KIND_BY_NAME.items()],
        "RULES": [_build_rule_data(rule, sections[rule.rule]) for rule in pages.rules],
        "SYSTEMS": [_build_system_data(pages, system) for system in pages.systems],
    }
    lines = (f"const {name} = {json.dumps(value, separators=(',', ':'))};\n" for name, value in values.items())
    (pages.site / names.RULES_DATA_FILE).write_text("".join(lines), encoding="ascii")


def _build_rule_data(rule: Rule, section: Section) -> list[str]:
    words = (
        rule.rule,
        clip_text(rule.level, 20),
        f"{rule.document} {rule.section}",
        clip_text(rule.says, _SENTENCE_CHARACTERS),
    )
    return [
        *map(escape_unprintable_characters, words),
        names.name_rule_page(rule.rule),
        names.name_section_page(section),
    ]


def _build_system_data(pages: SitePageWriter, system: System) -> list[str]:
    verdicts = "".join(
        _LETTER_BY_VERDICT_KIND[verdict or NOT_JUDGED_VERDICT_KIND.name] for verdict in pages.stands.row(system.key)
    )
    label = format_system_label(
        clip_text(system.name, 80), clip_text(system.version, 40), clip_text(system.profile, 40)
    )
    return [system.key, escape_unprintable_characters(label), names.name_system_page(system), verdicts]
