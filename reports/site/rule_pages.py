"""Writes the pages of rules from two streams in the order of rule ids: the current verdicts, and the latest changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from reports.model import Change, Frame, Rule, Section, StandingVerdict, System, is_judgeable
from reports.site import names
from reports.site.pages import COLUMNS_PER_PAGE, SitePageWriter, StageReporter
from reports.vocabulary import FINDING_VERDICTS, NOT_JUDGED_VERDICT_KIND, SEVERITY_BY_VERDICT, VERDICT_KIND_BY_NAME

FRAMES_PER_PAGE = 8
MAX_SYSTEMS_WITH_PACKETS = 3
"""The maximum number of systems for which a page shows packets and a capture. Systems with the worst verdicts come
first. If all systems pass, the page shows packets of only one system.
"""

GroupedItem = TypeVar("GroupedItem")


@dataclass(frozen=True, slots=True)
class ObservationPanel:
    """The observations of a system on the page of a rule: the frames that fit on the page, and the link to the capture
    that contains them.
    """

    system: System
    standing: StandingVerdict
    frames: tuple[Frame, ...]
    capture: str | None
    shows_packets: bool
    change: str

    @property
    def frames_left_out(self) -> int:
        """The number of packets of the verdict that the page does not show."""
        return len(self.standing.evidence) - len(self.frames)

    @property
    def is_open(self) -> bool:
        """Whether the page shows the panel unfolded, because it needs attention."""
        return self.standing.verdict in FINDING_VERDICTS and not self.standing.retired


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """The entry of one system in the list of systems on the page of a rule."""

    system: System
    change: str
    has_panel: bool


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """The systems that have the same verdict for a rule. ``lines``: the entries of these systems by name, or no entries
    if the page gives only the ``number`` of systems.
    """

    verdict: str
    number: int
    lines: tuple[SystemEntry, ...]


def count_frames_per_system(standings: Iterable[StandingVerdict], limit: int = FRAMES_PER_PAGE) -> dict[str, int]:
    """Return the number of frames that a page shows for each system. Systems with the worst verdicts get their frames
    first. Systems with equal verdicts take turns, one frame at a time.
    """
    wanted = sorted(
        (SEVERITY_BY_VERDICT[each.verdict], turn, order, each.system)
        for order, each in enumerate(standings)
        for turn in range(len(each.evidence))
    )
    chosen: dict[str, int] = {}
    for *_, system in wanted[:limit]:
        chosen[system] = chosen.get(system, 0) + 1
    return chosen


def write_rule_pages(pages: SitePageWriter, stage: StageReporter) -> None:
    """Write a page for each rule."""
    sections = {rule.rule: section for section in pages.sections for rule in section.rules}
    changes = _group_by_rule(pages.contents.changes(), lambda change: change.rule)
    changed = next(changes, None)
    written: set[str] = set()
    for rule, standings in _group_by_rule(pages.contents.read_shown_verdicts(), lambda standing: standing.rule):
        while changed and changed[0] < rule:
            changed = next(changes, None)
        history = changed[1] if changed and changed[0] == rule else []
        _write_page(pages, pages.contents.rules[rule], sections[rule], standings, history)
        written.add(rule)
        stage("pages of rules", len(written), len(pages.rules))
    for unjudged in pages.rules:
        if unjudged.rule not in written:
            _write_page(pages, unjudged, sections[unjudged.rule], [], [])


def _write_page(
    pages: SitePageWriter, rule: Rule, section: Section, standings: list[StandingVerdict], history: list[Change]
) -> None:
    number = pages.stands.index_by_rule[rule.rule]
    shown = [one for one in standings if one.system in pages.by_key]
    with_packets = _choose_systems_with_packets(shown)
    room = count_frames_per_system(with_packets)
    panels = [_build_panel(pages, one, room.get(one.system, 0), one in with_packets) for one in shown]
    groups = _group_systems_by_verdict(pages, rule, {one.system for one in shown})
    findings = sum(group.number for group in groups if group.verdict in FINDING_VERDICTS)
    pages.write(
        "rule.html",
        names.name_rule_page(rule.rule),
        rule=rule,
        section=section,
        can_be_judged=is_judgeable(rule) or bool(shown),
        panels=panels,
        left_out=findings - sum(not one.retired and one.verdict in FINDING_VERDICTS for one in shown),
        groups=groups,
        findings=findings,
        history=history,
        previous=pages.rules[number - 1] if number else None,
        following=pages.rules[number + 1] if number + 1 < len(pages.rules) else None,
    )


def _choose_systems_with_packets(shown: list[StandingVerdict]) -> list[StandingVerdict]:
    some = [one for one in shown if one.evidence or one.capture]
    return [one for one in some if one.verdict in FINDING_VERDICTS][:MAX_SYSTEMS_WITH_PACKETS] or some[:1]


def _build_panel(pages: SitePageWriter, standing: StandingVerdict, room: int, with_packets: bool) -> ObservationPanel:
    return ObservationPanel(
        pages.by_key[standing.system],
        standing,
        pages.captures.find_evidence_packets(standing)[:room] if room else (),
        pages.captures.copy_capture_of_verdict(standing) if with_packets else None,
        with_packets,
        "" if standing.retired else pages.change(standing.system, standing.rule, standing.verdict),
    )


def _group_systems_by_verdict(pages: SitePageWriter, rule: Rule, with_panel: set[str]) -> list[VerdictGroup]:
    """Group the systems by verdict, the worst verdict first. Systems without a finding are named only if the number of
    systems is small.
    """
    systems: dict[str, list[System]] = {}
    for system in pages.systems:
        systems.setdefault(pages.stands.get(system.key, rule.rule) or NOT_JUDGED_VERDICT_KIND.name, []).append(system)
    named = VERDICT_KIND_BY_NAME if len(pages.systems) <= COLUMNS_PER_PAGE else FINDING_VERDICTS
    return [
        VerdictGroup(
            verdict,
            len(systems[verdict]),
            tuple(
                SystemEntry(system, pages.change(system.key, rule.rule, verdict), system.key in with_panel)
                for system in systems[verdict]
                if verdict in named
            ),
        )
        for verdict in sorted(systems, key=SEVERITY_BY_VERDICT.__getitem__)
    ]


def _group_by_rule(
    rows: Iterator[GroupedItem], key: Callable[[GroupedItem], str]
) -> Iterator[tuple[str, list[GroupedItem]]]:
    return ((rule, list(group)) for rule, group in groupby(rows, key=key))
