"""Writes the list of runs, and the page of each run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from reports.model import Run
from reports.runs import resolve_file_inside_folder
from reports.site import names
from reports.site.downloads import write_table
from reports.site.logs import copy_logs
from reports.site.news import VerdictChangesOfRun
from reports.site.pages import SitePageWriter
from reports.vocabulary import VERDICT_NAMES

JUNIT_FILE = "junit.xml"
_RUN_COLUMNS = ("run", "system", "started", "finished", "reach", "selection", "exit", "lacking", "kept", "rejected")
_CHANGE_COLUMNS = (
    *("name", "profile", "rule", "run", "started", "version", "verdict", "version_before", "verdict_before", "change"),
)


def write_changes(pages: SitePageWriter) -> dict[str, VerdictChangesOfRun]:
    """Write the table of changes. Return the changes of each run, which are collected while the table is written."""
    news: dict[str, VerdictChangesOfRun] = {}

    def note_changes() -> Iterator[tuple[object, ...]]:
        for change in pages.contents.changes():
            news.setdefault(change.run, VerdictChangesOfRun()).note(change)
            yield tuple(getattr(change, name) for name in _CHANGE_COLUMNS)

    write_table(pages.site, "changes", _CHANGE_COLUMNS, note_changes())
    return news


def write_logs(pages: SitePageWriter) -> None:
    """Copy the logs of each system's latest run, to which the pages of rules and runs link."""
    for run in pages.latest.values():
        if run.run in pages.run_pages and (logs := copy_logs(pages.site, pages.captures.find_run_folder(run.run), run)):
            pages.logs[run.run] = logs


def write_runs(pages: SitePageWriter) -> None:
    """Write the list of runs, their pages and their tables."""
    runs = sorted(pages.contents.runs, key=lambda run: run.ingest, reverse=True)
    pages.write("runs.html", names.RUNS_PAGE, runs=[run for run in runs if run.run in pages.run_pages])
    newest = {run.run for run in pages.latest.values()}
    for run in runs:
        if run.run in pages.run_pages:
            pages.write(
                "run.html",
                names.name_run_page(run.run),
                run=run,
                news=pages.news.get(run.run, VerdictChangesOfRun()),
                is_first=pages.is_first_run_of_system(run),
                junit=_copy_junit(pages, run) if run.run in newest else None,
                captures=pages.captures.list_copies(run.run),
            )
    write_table(pages.site, "runs", (*_RUN_COLUMNS, *VERDICT_NAMES), map(_build_run_row, runs))
    if pages.contents.rejected:
        rejected = ((one.folder, one.line, one.reason) for one in pages.contents.rejected)
        write_table(pages.site, "rejected", ("folder", "line", "reason"), rejected)


def _copy_junit(pages: SitePageWriter, run: Run) -> str | None:
    """Copy the JUnit file of a run, and return it, or None if the run folder is remote or has no such file."""
    folder = pages.captures.find_run_folder(run.run)
    source = resolve_file_inside_folder(folder.resolve(), JUNIT_FILE) if folder else None
    if source is None:
        return None
    name = names.name_junit_file_of_run(run.run)
    shutil.copyfile(source, pages.site / name)
    return name


def _build_run_row(run: Run) -> tuple[object, ...]:
    return *(getattr(run, name) for name in _RUN_COLUMNS), *(run.counts.get(name, 0) for name in VERDICT_NAMES)
