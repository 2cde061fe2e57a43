"""Ingests that fail: their messages, and the state of the lake afterwards."""

import json
import random
import shutil
import subprocess
from dataclasses import replace

import pytest
from test_lake_ingest import line, write_run

from reports.java_errors import SPARK_ERRORS, describe_java_error
from reports.lake import ingest as ingests
from reports.lake import writing
from reports.lake.ingest import ingest
from reports.lake.store import Lake
from reports.rollup_error import RollupError

DISK_KB = 256


def read(spark, where):
    """Return the state of a lake, and the numbers of rows of some tables."""
    lake = Lake.open(spark, str(where))
    return lake.manifest, [lake.table(name).count() for name in ("verdicts", "rule_current", "check_current")]


@pytest.fixture(scope="module")
def small(spark, tmp_path_factory):
    """Return a lake with the run `good`; two other runs were ingested together with it, and refused."""
    folder = tmp_path_factory.mktemp("small")
    good, grows, foreign = (write_run(folder / name, [line(1)]) for name in ("good", "grows", "foreign"))
    write_run(foreign, [line(1)], suites="b" * 64)

    def grow(*arguments, write_facts=writing.write_facts):
        if len((grows / "verdicts.jsonl").read_text().splitlines()) == 1:
            with (grows / "verdicts.jsonl").open("a") as file:
                file.writelines(json.dumps(line(seq)) + "\n" for seq in (2, 3))
        return write_facts(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "write_facts", grow)
        report = ingest(Lake.open_or_create(spark, str(folder / "lake")), map(str, (good, grows, foreign)))
    return folder, report


def test_growing_run_or_foreign_rules_do_not_prevent_ingest_of_other_runs(spark, small):
    folder, report = small
    assert (report.ingested_runs, report.kept_line_count, report.rejected_line_count) == (["good"], 1, 0)
    of_foreign, of_grows = report.refused
    assert of_foreign.startswith(f"{folder / 'foreign'}/rules.json: its SHA-256 is ")
    assert of_foreign.endswith("names the suites bbbbbbbb...: it belongs to another run")
    assert (
        of_grows
        == "run grows is still being written, because its lines changed from 1 to 3: ingest it when it has finished"
    )
    lake = Lake.open(spark, str(folder / "lake"))
    assert {each.name for each in (folder / "lake" / "data").iterdir()} == lake.manifest.commits_in_use()


def test_overtaken_or_late_failing_ingest_reports_state_of_lake(spark, small, tmp_path, monkeypatch):
    where = shutil.copytree(small[0] / "lake", tmp_path / "lake")
    state = Lake.open(spark, str(where)).manifest

    def written(lake, commit, chosen, stage):
        (source,) = chosen
        runs = lake.manifest.runs | {source.run: ingests._build_known_run(source, commit)}
        return replace(lake.manifest, number=state.number + 1, runs=runs), [], 1

    monkeypatch.setattr(ingests, "_write_folders", written)
    second, third = write_run(tmp_path / "second", [line(1)]), write_run(tmp_path / "third", [line(1), "broken\n"])

    def meanwhile(stage):
        if stage == "publishing":
            # It fails after its last step, too: the line says that the lake is another all the same.
            with pytest.MonkeyPatch.context() as patched, pytest.raises(RollupError) as caught:
                patched.setattr(
                    writing, "list_rejected_lines", lambda *_: (_ for _ in ()).throw(RollupError("no room"))
                )
                ingest(Lake.open(spark, str(where)), [str(third)])
            said.append(str(caught.value))

    said = []
    with pytest.raises(
        RollupError, match="was changed by another process during this ingest, so no run was ingested: ingest again"
    ):
        ingest(Lake.open(spark, str(where)), [str(second)], stage=meanwhile)
    assert said == ["the lake was published, and its state 2 contains the 1 runs; the next step failed: no room"]
    assert set(Lake.open(spark, str(where)).manifest.runs) == {"good", "third"}


@pytest.fixture
def disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here: a full disk needs a file system of its own")
    if done.returncode:
        pytest.skip(f"mounting a tmpfs is refused here, and a full disk needs one: {' '.join(done.stderr.split())}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_failed_ingest_on_full_disk_leaves_lake_unchanged(spark, small, tmp_path, disk):
    shutil.copytree(small[0] / "lake", disk / "lake")
    before, folders = read(spark, disk / "lake"), sorted((disk / "lake" / "data").iterdir())
    long = (line(seq, reason=random.Random(seq).randbytes(999).hex()) for seq in range(1, 900))
    more = write_run(tmp_path / "more", long)
    with pytest.raises(SPARK_ERRORS) as caught:
        ingest(Lake.open(spark, str(disk / "lake")), [str(more)])
    assert "No space left on device; free space on the disk" in describe_java_error(caught.value)
    assert read(spark, disk / "lake") == before
    assert sorted((disk / "lake" / "data").iterdir()) == folders
