"""Deletes the files of a lake that no remaining state uses, and merges small ingests."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

from reports.lake import manifest as manifests
from reports.lake.manifest import IngestCommit, Manifest, get_table_folder
from reports.lake.schemas import COLUMN_TYPES_BY_FACT_TABLE
from reports.lake.store import Lake
from reports.lake.writing import write_parquet

SMALL_INGEST_OCTETS = 64 << 20
"""An ingest is merged with other ingests if its verdicts have fewer octets than this number."""
MERGED_FILE_OCTETS = 128 << 20
"""The target size in octets of a file that results from merging."""


@dataclass(slots=True)
class VacuumResult:
    """The numbers of merged ingests, deleted states and deleted folders."""

    merged_ingest_count: int = 0
    deleted_state_count: int = 0
    folders: int = 0


def delete_unused_files(
    lake: Lake, *, keep: int, hours: float, compact: bool, stage: Callable[[str], None]
) -> VacuumResult:
    """Merge small ingests. Then delete the old states, and the files to which no remaining state refers. The newest
    ``keep`` states remain.

    A state that was replaced less than ``hours`` ago stays, because a reader may still use it. Files and folders that
    are younger than ``hours`` stay as well, because they may belong to a running ingest.
    """
    done = VacuumResult()
    if compact:
        lake = _merge_commits(lake, done, stage)
    stage("deleting")
    files, uri = lake.files, lake.uri
    known = manifests.list_manifest_numbers(files, uri)
    latest = (time.time() - hours * 3600) * 1000
    entries = files.entries(f"{uri}/manifests")
    published = {each.name: each.modified for each in entries}
    followed = {number: published[_build_commit_name(later)] for number, later in pairwise(known)}
    staying = [number for number in known if number in known[-keep:] or followed[number] > latest]
    kept = [manifests.read_manifest(files, uri, number) for number in staying]
    names = set(map(_build_commit_name, staying))
    for each in entries:
        is_state = manifests.MANIFEST_NAME_PATTERN.fullmatch(each.name) is not None
        if each.name not in names and (is_state or each.modified <= latest):
            files.delete(each.uri)
            done.deleted_state_count += is_state
    used = {commit for state in kept for commit in state.commits_in_use()}
    for each in files.entries(f"{uri}/data"):
        if each.name not in used and _get_last_change_ms(lake, each.uri) <= latest:
            files.delete(each.uri)
            done.folders += 1
    return done


def _build_commit_name(number: int) -> str:
    return f"{number:08d}.json"


def _get_last_change_ms(lake: Lake, folder: str) -> int:
    """Return the time of the last change in a commit's folder, in ms since 1970."""
    status = lake.files.status(folder)
    return max([status.modified if status else 0, *(each.modified for each in lake.files.entries(folder))])


def _merge_commits(lake: Lake, done: VacuumResult, stage: Callable[[str], None]) -> Lake:
    """Merge small commits into larger commits without changing their facts, and publish the resulting state."""
    bundles = _bundle_small_commits(lake)
    if not bundles:
        return lake
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"
    state = replace(lake.manifest, number=lake.manifest.number + 1)
    for number, small in enumerate(bundles):
        merged = _write_merged_commit(lake, f"{name}-{number}", small, stage)
        state = _replace_merged_commits(state, {each.commit for each in small}, merged)
        done.merged_ingest_count += len(small)
    manifests.publish_manifest(lake.files, lake.uri, state)
    return replace(lake, manifest=state)


def _bundle_small_commits(lake: Lake) -> list[list[IngestCommit]]:
    """Return the small commits to merge. They are merged only if they form a large commit together, so that later
    merges do not rewrite the same rows repeatedly.
    """
    bundles: list[list[IngestCommit]] = [[]]
    size = 0
    for each in lake.manifest.commits:
        if (octets := _count_octets(lake, [each], "verdicts")) >= SMALL_INGEST_OCTETS:
            continue
        bundles[-1].append(each)
        size += octets
        if size >= SMALL_INGEST_OCTETS:
            bundles.append([])
            size = 0
    return [bundle for bundle in bundles if len(bundle) > 1]


def _write_merged_commit(
    lake: Lake, name: str, small: Sequence[IngestCommit], stage: Callable[[str], None]
) -> IngestCommit:
    tables = tuple(table for table in COLUMN_TYPES_BY_FACT_TABLE if any(table in each.tables for each in small))
    for table in tables:
        stage(f"merging {table}")
        rows = lake.table(table, {each.commit for each in small})
        if {"sut", "ingest"} <= set(rows.columns):
            rows = rows.sortWithinPartitions("sut", "ingest")
        write_parquet(
            rows.coalesce(1 + _count_octets(lake, small, table) // MERGED_FILE_OCTETS),
            f"{lake.uri}/{get_table_folder(name, table)}",
        )
    return IngestCommit(name, tuple(run for each in small for run in each.runs), tables)


def _replace_merged_commits(state: Manifest, small: set[str], merged: IngestCommit) -> Manifest:
    return replace(
        state,
        commits=(*(each for each in state.commits if each.commit not in small), merged),
        runs={
            run: replace(known, commit=merged.commit) if known.commit in small else known
            for run, known in state.runs.items()
        },
        catalogues={
            suites: merged.commit if commit in small else commit for suites, commit in state.catalogues.items()
        },
    )


def _count_octets(lake: Lake, commits: Sequence[IngestCommit], table: str) -> int:
    folders = [f"{lake.uri}/{get_table_folder(each.commit, table)}" for each in commits if table in each.tables]
    return sum(each.size for folder in folders for each in lake.files.entries(folder))
