"""``lake judge``: executors judge captures as one process does, and the results become runs like all others."""

import gzip
import json
import shutil
import struct
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.capture import read_pcapng
from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging.captured import lines_of_capture
from harness.run_folder import get_capture_path
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.surface.inputs import Endpoint
from reports.lake import captures, cli, command, ingest, judging, manifest
from reports.lake.captures import CapturedSystem
from reports.lake.files import FileAccess
from reports.lake.judging import JudgingLimits, judge_into_folder, judge_into_lake
from reports.lake.store import Lake
from reports.rollup_error import RollupError

GOLDEN = Path(__file__).parents[2] / "captures" / "golden" / "frames.pcapng"
CHECKS = ["suites/mqqb/s/test_a.py::test_b[1-2]", "suites/mqqb/s/test_a.py::test_c"]
AGAIN = "captures/test-b-again-1.pcapng"
BOUNDS = JudgingLimits(1 << 20, 60)
WINDOWS = "windows-server-2022"
MISCOUNTED = "MQQB-3.1.6.4-06"
"""A rule that this release may break, because a product note permits it."""


def record(path, *packets):
    """Write a capture of a connection on which a SUT sends the given bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(VirtualEnvironment(), path)
    connection = recorder.record_opening(Endpoint("127.0.0.1", 50_000), Endpoint("127.0.0.2", 1801), by_peer=True)
    for packet in packets:
        recorder.record_received(connection, packet)
    recorder.close()


def by_another_tool(path):
    """Return a capture as another tool would write it: a pcap file of Ethernet frames."""
    made = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 1)
    for frame in read_pcapng(path):
        data = bytes(12) + b"\x08\x00" + frame.data
        made += struct.pack("<IIII", *divmod(frame.time_us, 1_000_000), len(data), len(data)) + data
    return made


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Return a run folder whose verdicts name two of its three captures, and a folder of captures of unknown systems,
    some of them unreadable.
    """
    root = tmp_path_factory.mktemp("captured [x] ü")
    run = root / "run 1"
    wrong = bytearray(bytes(establish_connection()))
    wrong[2] |= 1 << 6  # X9
    record(run / get_capture_path(CHECKS[0]), bytes(establish_connection()), bytes(connection_parameters()))
    record(run / AGAIN, bytes(wrong), bytes(user_message(user={"MessageID": 1})))
    record(run / "captures" / "nobody's.pcapng", bytes(session_ack(UserMsgSequenceNumber=1)))
    values = {"schema": 2, "run": "r1", "started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:02:00Z"}
    sut = {"name": "Contoso", "vendor": "Contoso Ltd", "version": "1.0", "profile": WINDOWS}
    (run / "run.json").write_text(json.dumps(values | {"sut": sut}))
    lines = [{"test": CHECKS[0], "evidence": [[4]]}, {"test": CHECKS[0]}, {"test": CHECKS[1], "capture": AGAIN}, {}]
    (run / "verdicts.jsonl").write_text("".join(json.dumps({"schema": 2, **line}) + "\n" for line in lines))
    strange = root / "strange"
    record(strange / "good.pcapng", bytes(establish_connection()))
    (strange / "cut.pcapng").write_bytes((strange / "good.pcapng").read_bytes()[:-5])
    (strange / "noise.pcapng").write_bytes(bytes(range(256)) * 9)
    (strange / "large.pcapng").write_bytes(bytes((1 << 20) + 1))
    (strange / "no capture.txt").write_text("x")
    shutil.copy(GOLDEN, strange / "golden.pcapng")
    other = root / "other"
    other.mkdir()
    (other / "ethernet.pcap.gz").write_bytes(gzip.compress(by_another_tool(run / AGAIN)))
    return root


STRANGE = {
    "cut.pcapng": "the file is truncated: 5 bytes of a block are missing",
    "golden.pcapng": "the capture does not record which packets the SUT sent",
    "large.pcapng": "1048577 octets exceed the maximum of 1048576 octets",
    "noise.pcapng": "neither pcap nor pcapng",
}


def test_executors_give_verdicts_of_single_process_and_report_unjudgeable_captures(spark, captured, tmp_path):
    given = CapturedSystem("Fabrikam", "2", "none")
    folders = [str(captured / name) for name in ("run 1", "strange")]
    written = judge_into_folder(spark, folders, given, BOUNDS, str(tmp_path / "out"), lambda _: None)
    assert (written.judged, written.refused) == (4, [])
    assert len(written.rejected) == len(STRANGE)
    for line, (capture, why) in zip(written.rejected, sorted(STRANGE.items()), strict=True):
        assert line.startswith(f"{captured}/strange/{capture}: ")
        assert why in line
    assert {each.uri for each in written.folders} == {f"file://{captured}/{name}" for name in ("run 1", "strange")}
    folders = {
        json.loads((each / "run.json").read_text())["sut"]["name"]: each for each in (tmp_path / "out").iterdir()
    }
    tests = {get_capture_path(CHECKS[0]): CHECKS[0], AGAIN: CHECKS[1]}
    said_of_the_count = {"Contoso": [("warn", ["MS-MQMQ <14>"])], "Fabrikam": []}
    for name, sut, profile in (("run 1", "Contoso", WINDOWS), ("strange", "Fabrikam", "none")):
        lines = [json.loads(line) for line in (folders[sut] / "verdicts.jsonl").read_text().splitlines()]
        assert [line.pop("seq") for line in lines] == list(range(1, len(lines) + 1))
        assert {line.pop("schema") for line in lines} == {2}
        expected = []
        for path in sorted((captured / name).rglob("*.pcapng")):
            capture = str(path.relative_to(captured / name))
            if capture not in STRANGE:
                expected += [
                    {"test": tests.get(capture, capture), **line}
                    for line in lines_of_capture(path, capture, profile)[1]
                ]
        judged = [line for line in lines if "rejected" not in line]
        assert {line.pop("ms") for line in judged} == {0}  # in virtual time nothing takes any, and the clock is at 2026
        assert sorted(map(_text, judged)) == sorted(_text(without_schema(line)) for line in expected)
        missed = [line for line in judged if line["rule"] == MISCOUNTED and line["verdict"] != "pass"]
        assert [(line["verdict"], line["notes"]) for line in missed] == said_of_the_count[sut]
        refused = {line["capture"]: line["rejected"] for line in lines if "rejected" in line}
        assert refused.keys() == (STRANGE.keys() if sut == "Fabrikam" else set())
        for capture, why in refused.items():
            assert STRANGE[capture] in why
    run = json.loads((folders["Contoso"] / "run.json").read_text())
    assert (run["run"], run["reach"], run["selection"]) == (f"r1 judged {run['suites'][:8]}", "capture", "captures")
    assert (run["captures"], run["captured"], run["sut"]["vendor"]) == (3, "r1", "Contoso Ltd")
    rules = json.loads((folders["Fabrikam"] / "rules.json").read_text())["rules"]
    assert {line["rule"] for line in expected} <= rules.keys()


def without_schema(line):
    return {key: value for key, value in line.items() if key not in ("schema", "seq", "ms")}


def _text(line):
    return json.dumps(line, sort_keys=True)


def test_a_capture_of_another_tool_is_judged_as_that_of_the_run(spark, captured, tmp_path):
    given = CapturedSystem("Fabrikam", "2", "none", sut="127.0.0.2")
    written = judge_into_folder(spark, [str(captured / "other")], given, BOUNDS, str(tmp_path / "out"), lambda _: None)
    assert (written.judged, written.rejected) == (1, [])
    (folder,) = (tmp_path / "out").iterdir()
    lines = [without_schema(json.loads(line)) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    expected = lines_of_capture(captured / "run 1" / AGAIN, "ethernet.pcap.gz")[1]
    assert [line.pop("test") for line in lines] == ["ethernet.pcap.gz"] * len(expected)
    assert sorted(map(_text, lines)) == sorted(_text(without_schema(line)) for line in expected)


def test_captures_that_the_lake_has_are_not_judged_again(spark, captured, tmp_path, monkeypatch):
    taken = []

    def take(lake, chosen, report, stage):
        taken.extend(chosen)
        known = {source.run: ingest._build_known_run(source, "none") for source in chosen}
        state = manifest.Manifest(number=lake.manifest.number + 1, runs=lake.manifest.runs | known)
        manifest.publish_manifest(lake.files, lake.uri, state)
        return lake

    def pass_all(some, octets, worker):
        line = (
            "unit",
            "capture",
            "0 position",
            "0L ended_us",
            "'MQQB-2.1.1-01' rule",
            "'pass' verdict",
            "'a' expected",
        )
        none = (f"null {name}" for name in ("errata", "notes", "reason", "advice", "rejected"))
        return some.selectExpr(*line, "'a' observed", "array(array(4)) evidence", *none)

    monkeypatch.setattr(ingest, "_write_and_publish_runs", take)
    monkeypatch.setattr(judging, "_judge_all_captures", pass_all)

    def judge(*some):
        lake = Lake.open_or_create(spark, str(tmp_path / "lake"))
        found = judge_into_lake(lake, some, CapturedSystem(), BOUNDS, replacing=False, stage=lambda _: None)
        assert not list((tmp_path / "lake" / "data").glob("*"))
        return found

    run = tmp_path / "run 1"
    shutil.copytree(captured / "run 1", run)
    report, written = judge(str(run))
    (source,) = taken
    assert (written.judged, report.refused, source.lines) == (3, [], 3)
    assert (source.folder.uri, source.row["sut_name"], source.row["partial"]) == (f"file://{run}", "Contoso", True)
    report, written = judge(str(run), str(captured / "strange"))
    assert (written.judged, report.known_argument_count, len(taken)) == (0, 1, 1)
    assert report.refused == [f"{captured}/strange: no run.json names the captured system: give --name and --version"]


@pytest.mark.parametrize("target", ["--out", "--lake"])
def test_a_rejected_capture_is_named_and_ends_the_command_with_3(tmp_path, monkeypatch, target):
    """A rejected capture is named, and the command exits with 3. Once such a capture counted as judged, and with --out
    the command exited with 0.
    """

    @contextmanager
    def session(*_):
        yield None, lambda *_: None

    written = judging.WrittenRunFolders(
        captures=5, rejected=["/c/cut.pcapng: the file is cut", "/c/x.pcapng: no pcapng file"]
    )
    report = ingest.IngestReport(1, ingested_runs=["c"], kept_line_count=30, rejected_line_count=2)
    for module in (cli, command):
        monkeypatch.setattr(module, "open_session", session)
    monkeypatch.setattr(Lake, "open_or_create", lambda *_: None)
    monkeypatch.setattr(judging, "judge_into_folder", lambda *_: written)
    monkeypatch.setattr(judging, "judge_into_lake", lambda *_, **__: (report, written))
    words = ["judge", "--captures", str(tmp_path), target, str(tmp_path / "out")]
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 3
    assert done.stdout.startswith("3 captures judged, 2 rejected\n")
    assert done.stderr.splitlines() == [f"mqconform lake judge: rejected: {line}" for line in written.rejected]


def test_more_folders_than_a_driver_should_know_are_refused(spark, captured, tmp_path, monkeypatch):
    monkeypatch.setattr(captures, "MAX_CAPTURE_FOLDERS", 1)
    with pytest.raises(RollupError, match=r"more than 1 folders of captures; judge them in several commands"):
        judge_into_folder(
            spark, [str(captured)], CapturedSystem("a", "1"), BOUNDS, str(tmp_path / "out"), lambda _: None
        )


def test_unknown_profile_of_captures_is_refused(spark, captured, tmp_path):
    def judge(folder, profile):
        given = CapturedSystem("Contoso", "1", profile)
        return judge_into_folder(spark, [str(folder)], given, BOUNDS, str(tmp_path / "out"), lambda _: None)

    with pytest.raises(RollupError, match=r"--profile: unknown windows-server-2020; known: none, windows-nt, "):
        judge(captured / "strange", "windows-server-2020")
    run = tmp_path / "run"
    shutil.copytree(captured / "run 1", run)
    (run / "run.json").write_text((run / "run.json").read_text().replace(WINDOWS, "vms"))
    (refused,) = judge(run, "none").refused
    assert refused.startswith(f"{run}/run.json: unknown profile vms; known: none, windows-nt, ")


def test_folder_without_captures_is_reported(spark, tmp_path):
    (tmp_path / "x.txt").write_text("")
    for folder, words in (
        (str(tmp_path / "none"), "the path does not exist"),
        (str(tmp_path), "no file there ends in .pcapng"),
    ):
        with pytest.raises(RollupError, match=words):
            judge_into_folder(spark, [folder], CapturedSystem(), BOUNDS, str(tmp_path / "out"), lambda _: None)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(RollupError, match="is not empty"):
        judge_into_folder(spark, [str(tmp_path)], CapturedSystem(), BOUNDS, str(tmp_path / "out"), lambda _: None)
    assert FileAccess(spark).entries(f"file://{tmp_path}/nowhere") == []
