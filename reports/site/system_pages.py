"""Writes the page of each system. The page shows the failures first, with the command that repeats the check, and
then all other findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from reports.causes import FindingCause, group_findings_by_cause
from reports.model import Rule, StandingVerdict, System, sum_counts
from reports.site import drawing, names
from reports.site.downloads import write_table
from reports.site.pages import SitePageWriter, StageReporter, change
from reports.text import format_repeat_command
from reports.vocabulary import FINDING_VERDICTS

MAX_CAUSES_SHOWN_IN_FULL = 100
"""The number of causes per verdict whose expected and observed values a page shows. For further causes the page
only names and links the rules.
"""
KINDS_OF_CHANGE_ON_SYSTEM_PAGE = ("newly failing", "newly passing", "changed")
RULE_COLUMNS = ("rule", "document", "section", "level", "verdict", "verdict_before")
FINDING_COLUMNS = (
    *("rule", "document", "section", "level", "verdict", "says", "expected", "observed", "reason", "test", "run"),
    *("started", "errata", "repeat"),
)


def write_system_pages(pages: SitePageWriter, stage: StageReporter) -> None:
    """Write a page, the tables and the badge of every system."""
    found = groupby(pages.contents.read_findings(), key=lambda standing: standing.system)
    seen: set[str] = set()
    for key, standings in found:
        if system := pages.by_key.get(key):
            _write_page(pages, system, list(standings))
            seen.add(key)
            stage("pages of systems", len(seen), len(pages.systems))
    for system in pages.systems:
        if system.key not in seen:
            _write_page(pages, system, [])


def _write_page(pages: SitePageWriter, system: System, standings: list[StandingVerdict]) -> None:
    changes = _group_changes_of_system(pages, system)
    newly = {rule.rule: kind for kind, some in changes.items() for rule, *_ in some}
    current = [one for one in standings if not one.retired]
    order = [(one.rule not in newly, _get_sort_rank_of_verdict(pages, one), one) for one in current]
    current = [one for *_, one in sorted(order, key=lambda each: each[:2])]
    groups = {name: [one for one in current if one.verdict == name] for name in FINDING_VERDICTS}
    causes = {name: _group_findings_of_verdict(pages, some, newly) for name, some in groups.items()}
    documents: dict[str, list[Counter[str]]] = {}
    rules: Counter[str] = Counter()
    for section in pages.sections:
        documents.setdefault(section.document, []).append(section.counts.get(system.key, Counter()))
        rules[section.document] += section.checked
    runs = pages.contents.list_runs_of_system(system)
    pages.write(
        "system.html",
        names.name_system_page(system),
        system=system,
        run=runs[-1] if runs else None,
        runs=runs,
        counts=pages.totals[system.key],
        groups=groups,
        causes=causes,
        found_in=Counter(one.document for some in groups.values() for one in some),
        untried=_count_rules_without_verdict(pages, system),
        shown_in_full=MAX_CAUSES_SHOWN_IN_FULL,
        beside=[one for one in current if one.later_undecided_verdicts and one.verdict not in FINDING_VERDICTS],
        retired=[one for one in standings if one.retired],
        changes=changes,
        newly=newly,
        documents={name: sum_counts(counts) for name, counts in documents.items()},
        document_rules=rules,
        rules=pages.contents.rules,
        table=f"system-{system.key}",
    )
    write_table(pages.site, f"system-{system.key}", RULE_COLUMNS, _build_rule_rows(pages, system))
    write_table(pages.site, f"system-{system.key}-findings", FINDING_COLUMNS, _build_finding_rows(pages, groups))
    badge = drawing.draw_badge(pages.totals[system.key], pages.judgeable)
    (pages.site / names.name_badge_file(system)).write_text(badge, encoding="utf-8")


def _group_findings_of_verdict(
    pages: SitePageWriter, findings: list[StandingVerdict], newly: dict[str, str]
) -> list[FindingCause]:
    """Group the findings with the given verdict by their cause. The causes of new failures come first. Then the other
    causes follow, beginning with the cause that affects the most rules.
    """
    causes = group_findings_by_cause(findings, pages.named, pages.get_root_cause)
    return sorted(causes, key=lambda cause: not any(one.rule in newly for one in cause.findings))


def _count_rules_without_verdict(pages: SitePageWriter, system: System) -> int:
    """Count the checked rules for which the system has no verdict."""
    rows = zip(pages.rules, pages.stands.row(system.key), strict=True)
    return sum(verdict is None and pages.contents.counts_rule(rule) for rule, verdict in rows)


def _group_changes_of_system(pages: SitePageWriter, system: System) -> dict[str, list[tuple[Rule, str, str]]]:
    """Return the changes since the previous version by kind of change, as triples (rule, earlier verdict, present
    verdict).
    """
    before = pages.before[system.key]
    changes: dict[str, list[tuple[Rule, str, str]]] = {name: [] for name in KINDS_OF_CHANGE_ON_SYSTEM_PAGE}
    if before:
        rows = zip(pages.rules, pages.stands.row(before.key), pages.stands.row(system.key), strict=True)
        for rule, was, verdict in rows:
            if was and verdict and (kind := change(was, verdict)):
                changes[kind].append((rule, was, verdict))
    return changes


def _build_rule_rows(pages: SitePageWriter, system: System) -> Iterator[tuple[object, ...]]:
    before = pages.before[system.key]
    verdicts_before = pages.stands.row(before.key) if before else [None] * len(pages.rules)
    for rule, verdict, was in zip(pages.rules, pages.stands.row(system.key), verdicts_before, strict=True):
        yield rule.rule, rule.document, rule.section, rule.level, verdict, was


def _build_finding_rows(
    pages: SitePageWriter, groups: dict[str, list[StandingVerdict]]
) -> Iterator[tuple[object, ...]]:
    for one in (one for group in groups.values() for one in group):
        says = pages.contents.rules[one.rule].says
        yield (
            *(one.rule, one.document, one.section, one.level, one.verdict, says, one.expected, one.observed),
            *(
                one.reason,
                one.test,
                one.run,
                one.started.isoformat(),
                " ".join(one.errata),
                format_repeat_command(one.rule),
            ),
        )


def _get_sort_rank_of_verdict(pages: SitePageWriter, standing: StandingVerdict) -> int:
    return pages.stands.index_by_rule[standing.rule]
