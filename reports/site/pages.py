"""Provides the data that every page needs, in display order, and writes pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

from jinja2 import Environment
from markupsafe import Markup

from reports.captures import CaptureStore
from reports.errata import Erratum
from reports.model import RUNS_PER_SYSTEM_SHOWN, Run, SiteContents, StandingVerdict, System, get_rule_sort_key
from reports.site.environment import build_template_environment
from reports.site.logs import CopiedLog
from reports.site.news import VerdictChangesOfRun
from reports.text import get_natural_sort_key
from reports.values import ValueNameAdder
from reports.vocabulary import DECIDED_VERDICTS, FINDING_VERDICTS

COLUMNS_PER_PAGE = 20
"""The maximum number of systems that have a column on one page. Further pages show the other systems."""
MAX_COLUMNS_WITHOUT_SCROLLING = 5
"""The number of columns above which a table scrolls in a box."""
MAX_RUNS_WITH_PAGES = 500
"""The maximum number of runs that have a page and a row in the list of runs. These are the latest runs; the table for
programs lists more.
"""
MAX_CACHED_OUTPUTS = 4096
"""The maximum number of outputs that are cached for each macro."""
StageReporter = Callable[[str, int, int], None]
"""A function that is called with the current stage, the number of finished parts, and the number of all parts (0 if
unknown).
"""
_MACROS_THAT_RENDER_VALUES = ("sut", "badge", "count", "level", "change", "legend", "document", "public_link")
"""The macros of the template parts.html whose output depends only on their arguments."""


class SitePageWriter:
    """Writes the pages of a site."""

    def __init__(
        self,
        contents: SiteContents,
        site: Path,
        captures: CaptureStore,
        errata: dict[str, Erratum] | None = None,
        named: ValueNameAdder = str,
    ) -> None:
        self.contents = contents
        self.site = site
        self.captures = captures
        self.errata = errata or {}
        self.systems = sorted(
            contents.systems,
            key=lambda each: (get_natural_sort_key(each.name), get_natural_sort_key(each.profile), each.order),
        )
        self.by_key = {system.key: system for system in self.systems}
        self.before = {system.key: contents.before(system) for system in self.systems}
        self.totals = contents.totals()
        self.sections = contents.sections()
        self.rules = sorted(contents.rules.values(), key=get_rule_sort_key)
        self.judgeable = sum(section.checked for section in self.sections)
        self.stands = contents.standing_verdicts
        self.named = named
        self.latest = {run.system: run for run in contents.runs}
        """The latest run of each system, by key."""
        newest_first = sorted(contents.runs, key=lambda run: run.ingest, reverse=True)
        self.run_pages = {run.run for run in newest_first[:MAX_RUNS_WITH_PAGES]}
        """The runs with a page."""
        self.news: dict[str, VerdictChangesOfRun] = {}
        """The changes of each run."""
        self.logs: dict[str, list[CopiedLog]] = {}
        """The logs of each run that were copied into the site."""
        self._roots = {run.run: run.roots for run in contents.runs if run.roots}
        self.env = build_template_environment()
        self.env.globals |= {
            "contents": contents,
            "document_titles": contents.titles,
            "errata_texts": self.errata,
            "systems": self.systems,
            "by_key": self.by_key,
            "latest": self.latest,
            "run_pages": self.run_pages,
            "logs": self.logs,
            "before": self.before,
            "totals": self.totals,
            "judgeable": self.judgeable,
            "count_decided": count_decided,
            "attention": count_rules_needing_attention,
        }
        self.env.filters["named"] = named
        self.env.globals["parts"] = _load_macros(self.env)

    def write(self, template: str, name: str, **values: object) -> None:
        """Write a page."""
        root = "../" * name.count("/")
        page = self.env.get_template(template).render(root=root, page=name, **values)
        (self.site / name).write_text(page, encoding="utf-8", errors="replace")

    def columns(self) -> list[list[System]]:
        """Return the systems in groups, one group for each page. A page has a limited number of columns, and each
        column shows one system. There is at least one group.
        """
        return [
            self.systems[start : start + COLUMNS_PER_PAGE] for start in range(0, len(self.systems), COLUMNS_PER_PAGE)
        ] or [[]]

    def get_page_number(self, system: System) -> int:
        """Return the number of the page that contains the column of the given system, if the columns are distributed
        over several pages.
        """
        return self.systems.index(system) // COLUMNS_PER_PAGE

    def is_first_run_of_system(self, run: Run) -> bool:
        """Return whether a run is the first run of its system, or False if the earliest runs of the system are not
        loaded.
        """
        of_system = [one for one in self.contents.runs if one.system == run.system]
        return len(of_system) < RUNS_PER_SYSTEM_SHOWN and run is of_system[0]

    def get_root_cause(self, standing: StandingVerdict) -> str:
        """Return the root cause of a verdict, or an empty text if the verdict has no root cause."""
        roots = self._roots.get(standing.run, ()) if standing.verdict == "inconclusive" else ()
        return next((root.said for root in roots if standing.test in root.checks), "")

    def change(self, system: str, rule: str, verdict: str) -> str:
        """Return a description of the change of a rule's verdict since the previous version, or an empty text if
        the verdict did not change or no previous version exists.
        """
        before = self.before[system]
        return change(self.stands.get(before.key, rule), verdict) if before else ""


def change(was: str | None, verdict: str | None) -> str:
    """Return a description of the change of a verdict, or an empty text if the verdict did not change, or if the
    earlier or the later verdict is unknown.
    """
    if was is None or verdict is None or was == verdict:
        return ""
    return {"fail": "newly failing", "pass": "newly passing"}.get(verdict, "changed")


def count_decided(counts: Counter[str]) -> int:
    """Count the rules with a decided verdict."""
    return sum(counts[name] for name in DECIDED_VERDICTS)


def get_table_width_class(columns: int, fit: int = MAX_COLUMNS_WITHOUT_SCROLLING) -> str:
    """Return the CSS class of a table with the given number of columns. A table that is too wide for the page
    scrolls in a box.
    """
    return " wide" if columns > fit else ""


def count_rules_needing_attention(counts: Counter[str]) -> int:
    """Count the rules whose verdicts need attention."""
    return sum(counts[name] for name in FINDING_VERDICTS)


def _load_macros(env: Environment) -> SimpleNamespace:
    """Return the macros of parts.html. The output of macros that are called often with the same arguments is
    cached.
    """
    module = env.get_template("parts.html").module
    macros = {name: macro for name, macro in vars(module).items() if not name.startswith("_")}
    kept = {name: lru_cache(MAX_CACHED_OUTPUTS)(macros[name]) for name in _MACROS_THAT_RENDER_VALUES}
    counted = {name: _cache_macro_by_counts(macros[name]) for name in ("counts", "matrix_cell")}
    return SimpleNamespace(**(macros | kept | counted))


def _cache_macro_by_counts(macro: Callable[..., Markup]) -> Callable[..., Markup]:
    """Cache the output of a macro by the content of the counters in its arguments. Counters are not hashable."""

    @lru_cache(MAX_CACHED_OUTPUTS)
    def call_macro(counts: tuple[tuple[str, int], ...], *more: Hashable) -> Markup:
        return macro(Counter(dict(counts)), *more)

    return lambda counts, *more: call_macro(tuple(sorted((counts or {}).items())), *more)
