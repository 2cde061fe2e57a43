"""``rollup --follow`` and ``--wait``: each run is ingested once, after it has finished, whatever happens in the
meantime.
"""

import json
from dataclasses import replace
from types import SimpleNamespace

import make_runs
import pytest

from reports import following
from reports.lake import ingest, manifest
from reports.lake.finishing import POLL_INTERVAL_S, wait_until_finished
from reports.lake.following import MAX_FAILED_SEARCHES, RunFolderFollower, repeat_searches_for_new_runs
from reports.lake.manifest import list_manifest_numbers
from reports.lake.store import Lake
from reports.rollup_error import RollupError

RULES = dict(list(make_runs.catalogue().items())[:3])


class Killed(BaseException):
    """An exception that simulates the end of the process: no error handler catches it."""


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs [x] a+b%20ü"


def add_run(runs, name, **values):
    folder = make_runs.make_run(runs / name, "Contoso", "1.0", rules=RULES, verdicts=3).folder
    rewrite(folder, run=name, **values)
    return folder


def rewrite(folder, **values):
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.fixture
def facts_are_not_written(monkeypatch):
    """Replace the ingest by a function that publishes the runs without writing tables."""

    def take(lake, chosen, report, stage):
        report.ingested_runs = [source.run for source in chosen]
        known = {source.run: ingest._build_known_run(replace(source, ingest=1), "none") for source in chosen}
        state = replace(lake.manifest, number=lake.manifest.number + 1, runs=lake.manifest.runs | known)
        manifest.publish_manifest(lake.files, lake.uri, state)
        return replace(lake, manifest=state)

    monkeypatch.setattr(ingest, "_write_and_publish_runs", take)


def test_follow_ingests_each_finished_readable_run_once(spark, runs, tmp_path, facts_are_not_written):
    told = []
    where = str(tmp_path / "lake")
    add_run(runs, "old")
    unfinished = add_run(runs, "open ü", finished=None)
    broken = add_run(runs, "broken")
    (broken / "run.json").write_text("{")
    empty = add_run(runs, "empty")
    (empty / "run.json").write_text("")
    follower = RunFolderFollower(spark, where, str(runs), told.append)
    follower.ingest_new_runs()
    first, second = told
    assert (first.ingested_runs, first.unfinished_folders) == (["old"], [f"file://{unfinished}"])
    assert len(first.refused) == 1
    assert f"{broken}/run.json cannot be read as JSON" in first.refused[0]

    assert len(second.refused) == 1
    assert f"{empty}/run.json is empty" in second.refused[0]

    told.clear()
    follower.ingest_new_runs()
    assert told == []

    rewrite(unfinished, finished="2026-11-21T10:02:00Z")
    late = add_run(runs, "late")
    (broken / "run.json").write_text((late / "run.json").read_text().replace('"late"', '"mended"'))
    follower = RunFolderFollower(spark, where, str(runs), told.append)
    follower.ingest_new_runs()
    assert [(report.ingested_runs, report.known_argument_count, report.refused) for report in told] == [
        (["mended", "open ü"], 0, []),
        (["late"], 0, []),
    ]
    assert set(Lake.open(spark, where).manifest.runs) == {"old", "open ü", "mended", "late"}


def test_ingest_batch_repeated_after_kill_leaves_lake_unchanged(spark, runs, tmp_path, facts_are_not_written):
    where = str(tmp_path / "lake")
    add_run(runs, "only")

    def killed(_):
        raise Killed("between publishing and the checkpoint")

    with pytest.raises(Killed):
        RunFolderFollower(spark, where, str(runs), killed).ingest_new_runs()
    lake = Lake.open(spark, where)
    assert (lake.manifest.number, set(lake.manifest.runs)) == (1, {"only"})
    told = []
    RunFolderFollower(spark, where, str(runs), told.append).ingest_new_runs()
    assert [(report.ingested_runs, report.known_argument_count, report.number) for report in told] == [([], 1, 1)]
    assert list_manifest_numbers(lake.files, lake.uri) == [1]


def test_folder_without_runs_is_named(spark, runs, tmp_path):
    folder = add_run(runs, "run")
    for where, words in ((folder, "is a run folder itself"), (tmp_path / "nowhere", "no folder at")):
        with pytest.raises(RollupError, match=words):
            RunFolderFollower(spark, str(tmp_path / "lake"), str(where), lambda _: None)


def test_failed_search_for_runs_is_retried_and_repeated_failure_ends_command():
    said, waited, looks = [], [], []

    def look():
        looks.append(1)
        if len(looks) != 3:
            raise RollupError("the disk is full")

    with pytest.raises(RollupError, match="the disk is full"):
        repeat_searches_for_new_runs(look, 7, said.append, waited.append)
    assert len(looks) == 3 + MAX_FAILED_SEARCHES
    assert said == ["the disk is full; trying again in 7 s"] * (2 + MAX_FAILED_SEARCHES - 1)
    assert waited == [7] * (len(looks) - 1)


def test_follow_rewrites_site_after_lake_change_and_ends_at_ctrl_c(monkeypatch, capsys):
    states = iter([0, 1, 1, 2])
    written = []

    def look(self, stage):
        self.number = next(states)
        if self.number == 2:
            self.told(
                ingest.IngestReport(2, ingested_runs=["r"], kept_line_count=3, unfinished_folders=["file:///runs/open"])
            )

    follower = SimpleNamespace(number=0)
    follower.ingest_new_runs = lambda stage: look(follower, stage)

    def made(spark, where, folder, told):
        follower.told = told
        return follower

    def wait(seconds):
        assert seconds == 5
        if follower.number == 2:
            raise KeyboardInterrupt

    lake = SimpleNamespace(open_or_create=lambda *_: SimpleNamespace(manifest=SimpleNamespace(number=follower.number)))
    monkeypatch.setattr(following, "RunFolderFollower", made)
    monkeypatch.setattr(following, "Lake", lake)
    following.follow_runs(None, "lake", "runs", 5, lambda _: written.append(follower.number), wait)
    assert written == [1, 2]
    out = capsys.readouterr()
    assert "lake state 2: 1 runs ingested (3 verdicts), 1 skipped for now" in out.out
    assert out.out.endswith("ended: the lake contains the runs that the last complete search found\n")
    assert out.err == "mqconform rollup: /runs/open has not finished: skipped for now\n"


def test_following_waits_until_each_run_exists_and_has_finished(spark, runs):
    folders = [runs / name for name in ("ended", "ends ü", "not there yet")]
    add_run(runs, "ended")
    add_run(runs, "ends ü", finished=None)
    stages, whole = [], []

    def wait(seconds):
        assert seconds == POLL_INTERVAL_S
        if len(stages) == 2:
            rewrite(folders[1], finished="2026-11-21T10:02:00Z")
        if len(stages) == 3:
            add_run(runs, "not there yet")
            whole.append((folders[2] / "run.json").read_text())
            (folders[2] / "run.json").write_text(whole[0][:20])
        if len(stages) == 5:
            (folders[2] / "run.json").write_text(whole[0])

    wait_until_finished(spark, map(str, folders), 60, stages.append, wait)
    assert stages == [f"waiting for {number} runs" for number in (2, 2, 1, 1, 1)]


@pytest.mark.parametrize(("wait_s", "looks"), [(0, 0), (2.5, 3)])
def test_following_ends_at_its_time_limit(spark, runs, wait_s, looks):
    waited = []
    wait_until_finished(spark, [str(add_run(runs, "going on", finished=None))], wait_s, wait=waited.append)
    assert len(waited) == looks
