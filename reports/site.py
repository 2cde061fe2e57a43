"""The static site: matrix, sections, rules, runs. No network, no script; everything from outside is escaped."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from reports import text, vocabulary
from reports.captures import CaptureStore
from reports.model import DEMAND, DEMANDS, Cell, Coverage, Frame, Judgement, Rollup, Rule, Section, Sut, worst

FRAMES_A_PAGE = 8
SUTS_THAT_FIT = 5
"""More columns than these scroll in a box of their own."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict on a rule page: what was judged, the frames there is room for, where its capture is."""

    judgement: Judgement
    frames: tuple[Frame, ...]
    capture: str | None

    @property
    def frames_left_out(self) -> int:
        """Frames that the page has no room for."""
        return len(self.judgement.evidence) - len(self.frames)


@dataclass(frozen=True, slots=True)
class Panel:
    """A SUT version on a rule page."""

    cell: Cell
    findings: tuple[Finding, ...]

    @property
    def left_out(self) -> int:
        """Verdicts of the run that the page has no room for."""
        return sum(self.cell.counts.values()) - len(self.findings)


def write_site(rollup: Rollup, site: Path) -> list[str]:
    """Write the pages anew; return the captures that verdicts point at and no run folder has."""
    shutil.rmtree(site, ignore_errors=True)
    for folder in ("sections", "rules"):
        (site / folder).mkdir(parents=True)
    shutil.copyfile(Path(__file__).parent / "static" / "style.css", site / "style.css")
    return _Writer(rollup, site).write()


def frames_for(cells: Iterable[Cell], limit: int = FRAMES_A_PAGE) -> dict[tuple[Sut, int], tuple[Frame, ...]]:
    """Choose the frames of a rule page by (SUT, seq): the worst verdicts' first, equals taking turns."""
    wanted = [
        (vocabulary.SEVERITY[judgement.verdict], turn, order, cell.sut, judgement.seq, frame)
        for order, cell in enumerate(cells)
        for judgement in cell.shown
        for turn, frame in enumerate(judgement.evidence)
    ]
    chosen: dict[tuple[Sut, int], tuple[Frame, ...]] = {}
    for *_, sut, seq, frame in sorted(wanted, key=lambda each: each[:5])[:limit]:
        chosen[sut, seq] = (*chosen.get((sut, seq), ()), frame)
    return chosen


def environment() -> Environment:
    """Return the templates' environment: autoescape always, and no invisible character gets through."""
    env = Environment(
        loader=PackageLoader("reports"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "clip": text.clip,
        "document_name": text.document_name,
        "moment": _moment,
        "arrow": _arrow,
        "public": _public,
    }
    env.globals |= {
        "KINDS": vocabulary.KINDS,
        "rule_page": _rule_page,
        "section_page": _section_page,
        "hexdump": text.hexdump,
        "DISSECTION_SHOWN": text.DISSECTION_SHOWN,
        "bar": _bar,
        "worst": worst,
        "runs_anchor": text.slug,
    }
    return env


class _Writer:
    """The renderer of every page of one roll-up."""

    def __init__(self, rollup: Rollup, site: Path) -> None:
        self.rollup = rollup
        self.site = site
        self.captures = CaptureStore(site, {run.run: run for run in rollup.runs})
        self.sections = rollup.sections()
        self.env = environment()
        self.env.globals |= {
            "rollup": rollup,
            "document_titles": rollup.titles(),
            "suts": rollup.suts,
            "latest": {sut: rollup.latest_run(sut) for sut in rollup.suts},
            "wide": " wide" if len(rollup.suts) > SUTS_THAT_FIT else "",
        }
        self.cells = {(cell.rule, cell.sut): cell for cell in rollup.cells}

    def write(self) -> list[str]:
        self._write_index()
        self._page("runs.html", "runs.html", "")
        self._write_coverage()
        rules = [(section, rule) for section in self.sections for rule in section.rules]
        neighbours = [None, *(rule for _, rule in rules), None]
        for section in self.sections:
            self._page("section.html", _section_page(section), "../", section=section, cells=self.cells)
        for index, (section, rule) in enumerate(rules):
            self._write_rule(section, rule, previous=neighbours[index], following=neighbours[index + 2])
        return self.captures.missing

    def _write_index(self) -> None:
        documents: dict[str, list[Section]] = {}
        for section in self.sections:
            documents.setdefault(section.document, []).append(section)
        totals: dict[Sut, Counter[str]] = {sut: Counter() for sut in self.rollup.suts}
        document_totals = {(name, sut): Counter[str]() for name in documents for sut in self.rollup.suts}
        for section in self.sections:
            for sut, counts in section.counts().items():
                totals[sut] += counts
                document_totals[section.document, sut] += counts
        self._page(
            "index.html",
            "index.html",
            "",
            documents=documents,
            totals=totals,
            document_totals=document_totals,
            add=_add,
        )

    def _write_coverage(self) -> None:
        newest = max((run for run in self.rollup.runs if run.coverage), key=lambda run: run.started, default=None)
        documents: dict[str, list[Coverage]] = {}
        beside: dict[str, dict[str, list[Coverage]]] = {}
        rules: dict[tuple[str, str, str], list[Rule]] = {}
        for one in newest.coverage if newest else ():
            if one.kind == DEMAND:
                documents.setdefault(one.document, []).append(one)
            else:
                beside.setdefault(one.document, {}).setdefault(one.kind, []).append(one)
        for rule in (rule for rule in newest.rules.values() if rule.kind in DEMANDS) if newest else ():
            demand = "SHOULD" if rule.level.startswith("SHOULD") else "MUST"
            rules.setdefault((rule.document, rule.section, demand), []).append(rule)
        self._page("coverage.html", "coverage.html", "", run=newest, documents=documents, beside=beside, rules=rules)

    def _write_rule(self, section: Section, rule: Rule, previous: Rule | None, following: Rule | None) -> None:
        cells = [cell for sut in self.rollup.suts if (cell := self.cells.get((rule.rule, sut)))]
        frames = frames_for(cells)
        panels = [
            Panel(cell, tuple(self._finding(cell, judgement, frames) for judgement in cell.shown))
            for cell in sorted(cells, key=lambda cell: vocabulary.SEVERITY[cell.verdict])
        ]
        self._page(
            "rule.html",
            _rule_page(rule),
            "../",
            section=section,
            rule=rule,
            panels={panel.cell.sut: panel for panel in panels},
            previous=previous,
            following=following,
        )

    def _finding(self, cell: Cell, judgement: Judgement, frames: dict[tuple[Sut, int], tuple[Frame, ...]]) -> Finding:
        capture = self.captures.link(cell, judgement.capture) if judgement.capture else None
        return Finding(judgement, frames.get((cell.sut, judgement.seq), ()), capture)

    def _page(self, template: str, name: str, root: str, **values: object) -> None:
        page = self.env.get_template(template).render(root=root, page=name, **values)
        (self.site / name).write_text(page, encoding="utf-8")


def _finalize(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return text.visible(value)
    return "" if value is None else value


def _moment(value: datetime | None) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if value else ""


def _arrow(direction: str) -> str:
    return {"sut->peer": "SUT → peer", "peer->sut": "peer → SUT"}.get(direction, direction)


def _public(link: str) -> str:
    """Return a link that may be followed; empty for anything that is not plain https."""
    return link if re.fullmatch(r"https://[!-~]+", link) else ""


def _rule_page(rule: Rule) -> str:
    return f"rules/{text.slug(rule.rule)}.html"


def _section_page(section: Section) -> str:
    return f"sections/{section.slug}.html"


def _add(counters: Iterable[Counter[str]]) -> Counter[str]:
    return sum(counters, Counter())


def _bar(counts: Counter[str]) -> list[tuple[str, float, float]]:
    """Lay counts on a bar 100 wide: (verdict, start, width)."""
    whole, start, parts = counts.total() or 1, 0.0, []
    for name in vocabulary.VERDICTS:
        if width := 100 * counts[name] / whole:
            parts.append((name, round(start, 2), round(width, 2)))
            start += width
    return parts
