"""Ingest: run folders become facts, what follows from them is derived anew, and one rename makes it the lake.

Whoever is killed leaves folders below ``data/`` that no manifest names; `reports.lake.vacuum` deletes them.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reports.lake import lines, manifest, sources, writing
from reports.lake.derivation import derive
from reports.lake.manifest import Known, Manifest
from reports.lake.sources import VERDICTS, Folder, Source
from reports.lake.store import Lake
from reports.rollup_error import RollupError
from reports.text import one_line, system_key

Stage = Callable[[str], None]
"""Is told what is done now, in a few words."""
REJECTED_NAMED = 100


@dataclass(slots=True)
class Report:
    """What became of the arguments.

    ``refused``: a line for each not taken; ``unfinished``: the folders of runs that were left, being written still;
    ``named``: folder, line, reason.
    """

    number: int
    taken: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    known: int = 0
    refused: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    kept: int = 0
    rejected: int = 0
    named: list[tuple[str, int, str]] = field(default_factory=list)


def ingest(lake: Lake, arguments: Iterable[str], *, replacing: bool = False, stage: Stage = lambda _: None) -> Report:
    """Take what is new of the run folders into the lake; `RollupError` when nothing was changed at all."""
    stage("looking at the run folders")
    folders, refused = sources.find(lake.files, arguments)
    return take(lake, folders, Report(lake.manifest.number, refused=refused), replacing=replacing, stage=stage)


def take(
    lake: Lake,
    folders: Sequence[Folder],
    report: Report,
    *,
    replacing: bool = False,
    finished: bool = False,
    stage: Stage = lambda _: None,
) -> Report:
    """Take what is new of these folders, and fill in the report; ``finished``: leave runs that have not ended."""
    # These very folders were taken, and their files are as they were.
    as_they_were = {(known.folder, known.size, known.modified) for known in lake.manifest.runs.values()}
    fresh = [each for each in folders if (each.uri, each.size, each.modified) not in as_they_were]
    report.known = len(folders) - len(fresh)
    found = _read(lake, fresh, report, finished=finished) if fresh else []
    chosen = _with_catalogues(lake, _choose(lake.manifest, found, report, replacing), report)
    if chosen:
        lake = _take(lake, chosen, report, stage)
    report.number = lake.manifest.number
    return report


def _read(lake: Lake, folders: Sequence[Folder], report: Report, *, finished: bool) -> list[Source]:
    """Read run.json of each, count its lines, and compute what tells its content from any other."""
    writing.size_shuffles(lake.spark, sum(folder.size for folder in folders))
    found, refused = sources.read_runs(lake.spark, lake.files, folders)
    report.refused += refused
    if finished:
        report.unfinished += [source.folder.uri for source in found if source.row["finished"] is None]
        found = [source for source in found if source.row["finished"] is not None]
    if not found:
        return []
    scan = lines.read(lake.spark, [source.folder.files[VERDICTS].uri for source in found])
    contents = {row.path: row for row in lines.contents(scan).collect()}
    read = []
    for source in found:
        row = contents.pop(source.folder.path(VERDICTS), None)
        count, total, mixed = (row.lines, row.total, row.mixed) if row else (0, "", "")
        digest = hashlib.sha256(f"{source.content} {count} {total} {mixed}".encode()).hexdigest()
        read.append(replace(source, digest=digest, lines=count))
    if contents:
        raise RollupError(f"Spark names a file as nobody else does: {one_line(next(iter(contents)))}")
    return read


def _choose(state: Manifest, found: Sequence[Source], report: Report, replacing: bool) -> list[Source]:
    """Return the runs that the lake lacks, and with ``replacing`` those that it has with other content."""
    chosen: dict[str, Source] = {}
    for source in found:
        run, where = one_line(source.run, 120), one_line(source.folder.uri.removeprefix("file://"))
        known, given = state.runs.get(source.run), chosen.get(source.run)
        if given is not None and given.digest != source.digest:
            other = one_line(given.folder.uri.removeprefix("file://"))
            report.refused.append(f"{where}: run {run} was given before with other content: {other}")
        elif given is not None or (known is not None and known.digest == source.digest):
            report.known += 1
        elif known is not None and not replacing:
            report.refused.append(
                f"{where}: run {run} is in the lake with other content, from "
                f"{one_line(known.folder.removeprefix('file://'))}: --replace takes this one instead"
            )
        else:
            chosen[source.run] = source
    return sorted(chosen.values(), key=lambda source: (source.started, source.run))


def _with_catalogues(lake: Lake, chosen: Sequence[Source], report: Report) -> list[Source]:
    """Leave out the runs whose rules.json cannot be taken."""
    if not (fresh := _fresh_suites(lake.manifest, chosen)):
        return list(chosen)
    if not (bad := sources.refused_rules(sources.rules_of(lake.spark, fresh))):
        return list(chosen)
    # Another run of the same suites may have the file whole: each has its own say, under its own name.
    each = [
        replace(source, row=source.row | {"suites": source.run}) for source in chosen if source.row["suites"] in bad
    ]
    bad = sources.refused_rules(sources.rules_of(lake.spark, each))
    taken = []
    for source in chosen:
        if why := bad.get(source.run):
            where = one_line(source.folder.uri.removeprefix("file://"))
            report.refused.append(f"{where}/{sources.RULES}: {one_line(why)}")
        else:
            taken.append(source)
    return taken


def _fresh_suites(state: Manifest, chosen: Sequence[Source]) -> list[Source]:
    """Return a source for each version of the suites that the lake does not know."""
    by_suites = {source.row["suites"]: source for source in chosen if source.row["suites"] not in state.catalogues}
    return list(by_suites.values())


def _take(lake: Lake, chosen: Sequence[Source], report: Report, stage: Stage) -> Lake:
    """Write facts and derived tables aside, publish them, and return the lake that has them."""
    commit = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"
    old = lake.manifest
    gone = {source.run: old.runs[source.run] for source in chosen if source.run in old.runs}
    report.taken = [source.run for source in chosen if source.run not in gone]
    report.replaced = list(gone)
    numbered = _numbered(old, chosen)
    if gone:
        stage("leaving out what is replaced")
        lake = writing.leave_out(lake, set(gone), commit)
    fresh = _fresh_suites(old, chosen)
    commits, kept = writing.write_facts(lake, commit, numbered, fresh, stage)
    holder = {run: each.commit for each in commits for run in each.runs}
    report.kept = sum(kept.values())
    report.rejected = sum(source.lines for source in chosen) - report.kept
    state = lake.manifest
    state = replace(
        state,
        number=old.number + 1,
        commits=(*state.commits, *commits),
        runs=state.runs | {source.run: _known(source, holder[source.run]) for source in numbered},
        catalogues=state.catalogues | {source.row["suites"]: commits[0].commit for source in fresh},
        last_ingest=max(old.last_ingest, *(source.ingest for source in numbered)),
    )
    lake = replace(lake, manifest=state)
    touched = [*gone.values(), *(state.runs[source.run] for source in numbered)]
    # What the lake knows of a product goes on from its last run, unless one of those it follows from is another now.
    anew = {each.product for each in (*gone.values(), *(state.runs[run] for run in gone))}
    going_on = old.derived.get("check_current", {}).keys() - anew
    products = {each.product: old.last_ingest if each.product in going_on else 0 for each in touched}
    derived = derive(lake, commit, {each.sut for each in touched}, products, stage)
    lake = replace(lake, manifest=replace(state, derived=derived))
    stage("publishing")
    manifest.publish(lake.files, lake.uri, lake.manifest)
    if report.rejected:
        report.named = writing.rejected_lines(lake, commits, REJECTED_NAMED)
    return lake


def _numbered(state: Manifest, chosen: Sequence[Source]) -> list[Source]:
    """Give each run its place in the order of ingest; one that is replaced keeps its own."""
    numbered, number = [], state.last_ingest
    for source in chosen:
        if source.run in state.runs:
            numbered.append(replace(source, ingest=state.runs[source.run].ingest))
        else:
            number += 1
            numbered.append(replace(source, ingest=number))
    return numbered


def _known(source: Source, commit: str) -> Known:
    row, folder = source.row, source.folder
    return Known(
        commit=commit,
        ingest=source.ingest,
        folder=folder.uri,
        size=folder.size,
        modified=folder.modified,
        digest=source.digest,
        lines=source.lines,
        sut=row["sut"],
        product=system_key(row["sut_name"], "", row["profile"]),
        suites=row["suites"],
    )
