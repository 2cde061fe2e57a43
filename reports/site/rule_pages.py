"""The pages of rules, from two streams: what stands, and the latest changes, both in the order of the rules' ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from reports.model import Change, Frame, Rule, Section, Standing, System
from reports.site import names
from reports.site.pages import Pages, Stage
from reports.vocabulary import SEVERITY

FRAMES_A_PAGE = 8
PANELS_A_PAGE = 12
"""Systems of which a page shows what was seen; the verdict is shown of all."""

Of = TypeVar("Of")


@dataclass(frozen=True, slots=True)
class Panel:
    """What was seen of a system: the frames there is room for, where its capture is."""

    system: System
    standing: Standing
    frames: tuple[Frame, ...]
    capture: str | None
    change: str

    @property
    def frames_left_out(self) -> int:
        """Frames that the page has no room for."""
        return len(self.standing.evidence) - len(self.frames)


@dataclass(frozen=True, slots=True)
class Line:
    """A system in the list of a rule's page."""

    system: System
    standing: Standing | None
    change: str
    has_panel: bool


def frames_for(standings: Iterable[Standing], limit: int = FRAMES_A_PAGE) -> dict[str, int]:
    """Choose how many frames of each system a page shows: the worst verdicts' first, equals taking turns."""
    wanted = sorted(
        (SEVERITY[each.verdict], turn, order, each.system)
        for order, each in enumerate(standings)
        for turn in range(len(each.evidence))
    )
    chosen: dict[str, int] = {}
    for *_, system in wanted[:limit]:
        chosen[system] = chosen.get(system, 0) + 1
    return chosen


def write_rule_pages(pages: Pages, stage: Stage) -> None:
    """Write a page for each rule, filling ``pages.standings`` and ``pages.cited`` on the way."""
    sections = {rule.rule: section for section in pages.sections for rule in section.rules}
    changes = _by_rule(pages.contents.changes(), lambda change: change.rule)
    changed = next(changes, None)
    written: set[str] = set()
    for rule, standings in _by_rule(pages.contents.by_rule(), lambda standing: standing.rule):
        while changed and changed[0] < rule:
            changed = next(changes, None)
        history = changed[1] if changed and changed[0] == rule else []
        for one in standings:
            if not one.retired:
                pages.standings.put(one.system, rule, one.verdict)
            for entry in one.errata:
                pages.cited.setdefault(entry, {}).setdefault(rule, []).append(one.system)
        _write(pages, pages.contents.rules[rule], sections[rule], standings, history)
        written.add(rule)
        stage("pages of rules", len(written), len(pages.rules))
    for unjudged in pages.rules:
        if unjudged.rule not in written:
            _write(pages, unjudged, sections[unjudged.rule], [], [])


def _write(pages: Pages, rule: Rule, section: Section, standings: list[Standing], history: list[Change]) -> None:
    number = pages.standings.rules[rule.rule]
    by_system = {one.system: one for one in standings if one.system in pages.by_key}
    worst_first = sorted(by_system.values(), key=lambda one: (one.retired, SEVERITY[one.verdict]))[:PANELS_A_PAGE]
    room = frames_for(worst_first)
    with_panel = {one.system for one in worst_first}
    change = {key: pages.change(key, rule.rule, one.verdict) for key, one in by_system.items() if not one.retired}
    panels = [
        Panel(
            pages.by_key[one.system],
            one,
            pages.captures.frames(one)[: room.get(one.system, 0)],
            pages.captures.link(one),
            change.get(one.system, ""),
        )
        for one in worst_first
    ]
    pages.write(
        "rule.html",
        names.rule_page(rule.rule),
        rule=rule,
        section=section,
        panels=panels,
        left_out=len(by_system) - len(panels),
        lines=[
            Line(system, by_system.get(system.key), change.get(system.key, ""), system.key in with_panel)
            for system in pages.systems
        ],
        history=history,
        previous=pages.rules[number - 1] if number else None,
        following=pages.rules[number + 1] if number + 1 < len(pages.rules) else None,
    )


def _by_rule(rows: Iterator[Of], key: Callable[[Of], str]) -> Iterator[tuple[str, list[Of]]]:
    return ((rule, list(group)) for rule, group in groupby(rows, key=key))
