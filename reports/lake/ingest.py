"""Ingests run folders: writes facts, derives tables from the facts, and publishes both by renaming one file.

An ingest that is killed leaves folders below ``data/`` that no manifest names; `reports.lake.vacuum` deletes them.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reports.java_errors import SPARK_ERRORS, describe_java_error
from reports.lake import exchanges, lines, manifest, sources, writing
from reports.lake.derivation import derive_tables
from reports.lake.manifest import IngestCommit, IngestedRun, Manifest
from reports.lake.pairs import PairSource
from reports.lake.sources import VERDICTS_FILE, RunFolder, RunSource
from reports.lake.store import Lake
from reports.rollup_error import RollupError
from reports.text import build_system_key, one_line

StageReporter = Callable[[str], None]
"""A function that an ingest calls at the beginning of each stage, with a short description of the stage."""
MAX_NAMED_REJECTED_LINES = 100


@dataclass(slots=True)
class IngestReport:
    """The result of an ingest for all arguments.

    ``ingested_pair_count``: the number of new results of pairs. ``known_argument_count``: the number of arguments that
    the lake already had. ``refused``: a line for each refused argument. ``unfinished_folders``: the folders of runs
    that were skipped because they are still being written. ``named_rejected_lines``: the folder, line and reason of
    some rejected lines.
    """

    number: int
    ingested_runs: list[str] = field(default_factory=list)
    replaced_runs: list[str] = field(default_factory=list)
    ingested_pair_count: int = 0
    known_argument_count: int = 0
    refused: list[str] = field(default_factory=list)
    unfinished_folders: list[str] = field(default_factory=list)
    kept_line_count: int = 0
    rejected_line_count: int = 0
    named_rejected_lines: list[tuple[str, int, str]] = field(default_factory=list)


def ingest(
    lake: Lake, arguments: Iterable[str], *, replacing: bool = False, stage: StageReporter = lambda _: None
) -> IngestReport:
    """Ingest the new run folders and the new results of pairs into the lake. Raise `RollupError` if the lake could
    not be changed.
    """
    stage("checking the run folders")
    found = sources.find_sources(lake.files, arguments)
    report = IngestReport(lake.manifest.number, refused=found.refused)
    ingest_folders(lake, found.runs, report, replacing=replacing, stage=stage)
    with note_published_on_failure(report):
        _ingest_pairs(lake, found.pairs, report, stage)
    return report


def _ingest_pairs(lake: Lake, found: Sequence[PairSource], report: IngestReport, stage: StageReporter) -> None:
    fresh = [each for each in found if each.digest not in lake.manifest.pairs]
    report.known_argument_count += len(found) - len(fresh)
    if fresh:
        stage(exchanges.EXCHANGES_TABLE)
        state = manifest.read_newest_manifest(lake.files, lake.uri)
        report.number = exchanges.write_pairs(replace(lake, manifest=state), fresh).manifest.number
        report.ingested_pair_count = len(fresh)


def ingest_folders(
    lake: Lake,
    folders: Sequence[RunFolder],
    report: IngestReport,
    *,
    replacing: bool = False,
    finished: bool = False,
    stage: StageReporter = lambda _: None,
) -> IngestReport:
    """Ingest those of the given folders that the lake does not contain yet, and complete the report. ``finished``:
    whether to skip unfinished runs.
    """
    # These folders were ingested, and their files have not changed.
    as_they_were = {(known.folder, known.size, known.modified) for known in lake.manifest.runs.values()}
    fresh = [each for each in folders if (each.uri, each.size, each.modified) not in as_they_were]
    report.known_argument_count = len(folders) - len(fresh)
    found = _read_run_sources(lake, fresh, report, finished=finished) if fresh else []
    chosen = _drop_runs_without_catalogue(lake, _choose_new_runs(lake.manifest, found, report, replacing), report)
    while chosen:
        try:
            _write_and_publish_runs(lake, chosen, report, stage)
            break
        except writing.FileChangedDuringIngest as error:
            report.refused += error.said.values()
            chosen = [source for source in chosen if source.run not in error.said]
    return report


@contextmanager
def note_published_on_failure(report: IngestReport) -> Iterator[None]:
    """If the code in this context fails after the lake was published, raise a `RollupError` that reports both the
    failure and the published state.
    """
    try:
        yield
    except (RollupError, *SPARK_ERRORS) as error:
        if not (done := len(report.ingested_runs) + len(report.replaced_runs)):
            raise
        why = str(error) if isinstance(error, RollupError) else describe_java_error(error)
        raise RollupError(
            f"the lake was published, and its state {report.number} "
            f"contains the {done} runs; the next step failed: {why}"
        ) from error


def _read_run_sources(
    lake: Lake, folders: Sequence[RunFolder], report: IngestReport, *, finished: bool
) -> list[RunSource]:
    """Read run.json of each folder, count its lines, and compute a fingerprint of its content."""
    writing.set_shuffle_partition_count(lake.spark, sum(folder.size for folder in folders))
    found, refused = sources.read_runs(lake.spark, lake.files, folders)
    report.refused += refused
    if finished:
        report.unfinished_folders += [source.folder.uri for source in found if source.row["finished"] is None]
        found = [source for source in found if source.row["finished"] is not None]
    if not found:
        return []
    scan = lines.read_verdict_lines(lake.spark, [source.folder.files[VERDICTS_FILE].uri for source in found])
    contents = {row.path: row for row in lines.read_file_contents(scan).collect()}
    read = []
    for source in found:
        row = contents.pop(source.folder.path(VERDICTS_FILE), None)
        count, total, mixed = (row.lines, row.total, row.mixed) if row else (0, "", "")
        digest = hashlib.sha256(f"{source.content} {count} {total} {mixed}".encode()).hexdigest()
        read.append(replace(source, digest=digest, lines=count))
    if contents:
        raise RollupError(
            f"Spark's path of a verdict file differs from the paths given to Spark: {one_line(next(iter(contents)))}"
        )
    return read


def _choose_new_runs(
    state: Manifest, found: Sequence[RunSource], report: IngestReport, replacing: bool
) -> list[RunSource]:
    """Return the runs that the lake does not have, and with ``replacing`` also the runs with changed content."""
    chosen: dict[str, RunSource] = {}
    for source in found:
        run, where = one_line(source.run, 120), one_line(source.folder.uri.removeprefix("file://"))
        known, given = state.runs.get(source.run), chosen.get(source.run)
        if given is not None and given.digest != source.digest:
            other = one_line(given.folder.uri.removeprefix("file://"))
            report.refused.append(f"{where}: run {run} was already given with different content: {other}")
        elif given is not None or (known is not None and known.digest == source.digest):
            report.known_argument_count += 1
        elif known is not None and not replacing:
            report.refused.append(
                f"{where}: run {run} is in the lake with different content, from "
                f"{one_line(known.folder.removeprefix('file://'))}: --replace replaces it"
            )
        else:
            chosen[source.run] = source
    return sorted(chosen.values(), key=lambda source: (source.started, source.run))


def _drop_runs_without_catalogue(lake: Lake, chosen: Sequence[RunSource], report: IngestReport) -> list[RunSource]:
    """Drop the runs whose rules.json cannot be used."""
    if not (fresh := _find_new_suites(lake.manifest, chosen)):
        return list(chosen)
    if not (bad := _find_refused_rules_files(lake, {source.row["suites"]: source for source in fresh})):
        return list(chosen)
    # Another run of the same suites may have an intact file, so each run is checked under its own name.
    bad = _find_refused_rules_files(lake, {source.run: source for source in chosen if source.row["suites"] in bad})
    taken = []
    for source in chosen:
        if why := bad.get(source.run):
            where = one_line(source.folder.uri.removeprefix("file://"))
            report.refused.append(f"{where}/{sources.RULES_FILE}: {one_line(why)}")
        else:
            taken.append(source)
    return taken


def _find_refused_rules_files(lake: Lake, named: Mapping[str, RunSource]) -> dict[str, str]:
    """Return, by the name of the run, the reason why the run's rules.json is refused."""
    each = [replace(source, row=source.row | {"suites": name}) for name, source in named.items()]
    bad = sources.find_refused_rules_files(sources.read_rules_files(lake.spark, each))
    foreign = {
        name: sources.describe_foreign_rules(lake.files, source) for name, source in named.items() if name not in bad
    }
    return bad | {name: why for name, why in foreign.items() if why}


def _find_new_suites(state: Manifest, chosen: Sequence[RunSource]) -> list[RunSource]:
    """For each version of the suites that the lake does not have, return one of the runs that used this version."""
    by_suites = {source.row["suites"]: source for source in chosen if source.row["suites"] not in state.catalogues}
    return list(by_suites.values())


def _write_and_publish_runs(
    lake: Lake, chosen: Sequence[RunSource], report: IngestReport, stage: StageReporter
) -> None:
    """Write facts and derived tables to unpublished folders, publish these folders, and complete the report."""
    commit = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"
    try:
        state, commits, kept = _write_folders(lake, commit, chosen, stage)
    except Exception:
        _delete_commit_folder(lake, commit)
        raise
    stage("publishing")
    manifest.publish_manifest(lake.files, lake.uri, state)
    known = lake.manifest.runs
    report.number = state.number
    report.ingested_runs = [source.run for source in chosen if source.run not in known]
    report.replaced_runs = [source.run for source in chosen if source.run in known]
    report.kept_line_count = kept
    report.rejected_line_count = sum(source.lines for source in chosen) - kept
    if report.rejected_line_count:
        with note_published_on_failure(report):
            report.named_rejected_lines = writing.list_rejected_lines(
                replace(lake, manifest=state), commits, MAX_NAMED_REJECTED_LINES
            )


def _write_folders(
    lake: Lake, commit: str, chosen: Sequence[RunSource], stage: StageReporter
) -> tuple[Manifest, list[IngestCommit], int]:
    """Write the folders of ``commit``. Return the state to publish, its new commits, and the number of kept lines."""
    old = lake.manifest
    gone = {source.run: old.runs[source.run] for source in chosen if source.run in old.runs}
    numbered = _assign_run_numbers(old, chosen)
    if gone:
        stage("dropping the replaced runs")
        lake = writing.rewrite_without_runs(lake, set(gone), commit)
    fresh = _find_new_suites(old, chosen)
    commits, kept = writing.write_facts(lake, commit, numbered, fresh, stage)
    holder = {run: each.commit for each in commits for run in each.runs}
    state = lake.manifest
    state = replace(
        state,
        number=old.number + 1,
        commits=(*state.commits, *commits),
        runs=state.runs | {source.run: _build_known_run(source, holder[source.run]) for source in numbered},
        catalogues=state.catalogues | {source.row["suites"]: commits[0].commit for source in fresh},
        last_ingest=max(old.last_ingest, *(source.ingest for source in numbered)),
    )
    touched = [*gone.values(), *(state.runs[source.run] for source in numbered)]
    # The derived rows of a product continue from its last run, unless an earlier run was replaced.
    anew = {each.product for each in (*gone.values(), *(state.runs[run] for run in gone))}
    going_on = old.derived.get("check_current", {}).keys() - anew
    products = {each.product: old.last_ingest if each.product in going_on else 0 for each in touched}
    derived = derive_tables(replace(lake, manifest=state), commit, {each.sut for each in touched}, products, stage)
    return replace(state, derived=derived), commits, sum(kept.values())


def _delete_commit_folder(lake: Lake, commit: str) -> None:
    """Delete as many files of a failed ingest as possible. If the disk is full, `vacuum` deletes the remaining files
    later.
    """
    with suppress(RollupError, *SPARK_ERRORS):
        for each in lake.files.entries(f"{lake.uri}/data"):
            if each.name.startswith(commit):
                lake.files.delete(each.uri)


def _assign_run_numbers(state: Manifest, chosen: Sequence[RunSource]) -> list[RunSource]:
    """Assign to each run its number in the order of ingest. A run that replaces an earlier run gets the number of the
    earlier run.
    """
    numbered, number = [], state.last_ingest
    for source in chosen:
        if source.run in state.runs:
            numbered.append(replace(source, ingest=state.runs[source.run].ingest))
        else:
            number += 1
            numbered.append(replace(source, ingest=number))
    return numbered


def _build_known_run(source: RunSource, commit: str) -> IngestedRun:
    row, folder = source.row, source.folder
    return IngestedRun(
        commit=commit,
        ingest=source.ingest,
        folder=folder.uri,
        size=folder.size,
        modified=folder.modified,
        digest=source.digest,
        lines=source.lines,
        sut=row["sut"],
        product=build_system_key(row["sut_name"], "", row["profile"]),
        suites=row["suites"],
    )
