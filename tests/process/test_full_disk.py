"""Tests with a disk that is really full: commands of the SUT file fill and empty a small tmpfs."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqconform_process import ROOT, mqconform, run_json, sut, verdicts
from qm_process import serve

EXAMPLE = ROOT / "docs/environment/full-disk.toml"
PLACE = "/srv/mqconform-disk"
SIZE_KB = 20 * 1_024
BODY = "x" * 200_000
"""The body of a message. A test sends such messages until the system refuses one, because together they exceed the free
space of the disk.
"""
QUEUE = "private$\\q"
REFUSED = "database or disk is full; free space on its disk"
SHORT = "its disk has less than 16 MiB left, so no message is accepted; free some space on this disk"
LIMIT_S = 10
"""The time limit in seconds for the command that hangs; the other command of the pair takes milliseconds."""
ROOM = "the disk of the store has enough free space again"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small file system; skip the test where the machine refuses the mount."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here: a full disk needs a file system of its own")
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_KB}k", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting a tmpfs is refused here, and a full disk needs one: {' '.join(done.stderr.split())}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


FULL = ("--rule", "MQSO-5.5.5-01", "--rule", "MQSO-5.1.1.1-06")


def example(folder: Path, disk: Path, **changes: str) -> Path:
    """Return the SUT file of docs/environment.md, with the disk at a different path."""
    text = EXAMPLE.read_text(encoding="utf-8")
    assert PLACE in text
    for old, new in changes.items():
        assert text.count(f"{old} = ") == 1
        text = "".join(f"{old} = {new}\n" if line.startswith(f"{old} = ") else line for line in text.splitlines(True))
    return sut(folder, text.replace(PLACE, str(disk)))


def test_full_disk_checks_are_judged_on_a_full_disk(disk: Path, tmp_path: Path) -> None:
    done = mqconform(
        "run", "--sut", example(tmp_path, disk), "--out", tmp_path / "run", *FULL, "-k", "full_storage or throttled"
    )
    assert done.returncode == 0, done.stdout
    found = {line["rule"]: line["verdict"] for line in verdicts(tmp_path / "run")}
    assert {found[rule] for rule in ("MQSO-5.5.5-01", "MQSO-5.1.1.1-05", "MQSO-5.1.1.1-06")} == {"pass"}
    said = (tmp_path / "run/sut.log").read_text(encoding="utf-8").splitlines()
    times = Counter(ending for line in said for ending in (REFUSED, SHORT, ROOM) if line.endswith(ending))
    assert times[SHORT] == times[ROOM] >= times[REFUSED] >= 1, said
    assert len(said) == 1 + times.total(), said
    assert sorted(one.name for one in disk.iterdir() if "store" not in one.name) == []
    done = mqconform("replay", tmp_path / "run")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("; 0 differed, 0 cannot be replayed\n")


@pytest.mark.parametrize("killed_while_full", [True, False])
def test_full_disk_loses_no_acknowledged_message(disk: Path, tmp_path: Path, killed_while_full: bool) -> None:
    store, ballast = disk / "store", disk / "ballast"
    flags = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0", "--store", str(store))
    kept: list[str] = []
    with serve(tmp_path, *flags) as served, served.control() as control:
        control.call("create_queue", name=QUEUE)
        to = f"DIRECT=TCP:127.0.0.1\\{QUEUE}"
        refused = 0
        for number in range(2 * SIZE_KB * 1_024 // len(BODY)):
            control.ask("send", to=to, body=BODY, label=str(number), delivery="recoverable")
            reply = control.read_reply()
            if reply["ok"]:
                kept.append(str(number))
            else:
                refused += 1
        assert refused
        assert kept
        fill(ballast)
        if not killed_while_full:
            ballast.unlink()
        served.process.kill()
    said = (tmp_path / "stderr").read_text(encoding="utf-8").splitlines()
    assert [line.endswith(SHORT) for line in said] == [True], said
    with serve(tmp_path, *flags) as served, served.control() as control:
        assert [one["label"] for one in control.call("peek", queue=QUEUE, limit=10_000)["messages"]] == kept
        with contextlib.suppress(FileNotFoundError):
            ballast.unlink()
        while control.call("receive", queue=QUEUE, timeout_ms=0)["message"] is not None:
            pass
        control.call("send", to=to, body="room", label="after", delivery="recoverable")
        served.process.terminate()
        assert served.ends() == 0
    with serve(tmp_path, *flags) as served, served.control() as control:
        assert [one["label"] for one in control.call("peek", queue=QUEUE, limit=10)["messages"]] == ["after"]


def fill(ballast: Path) -> None:
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4_096)):
            pass


STUCK = [
    ("give_storage", ["sh", "-c", "echo the key is lost >&2; exit 1"], "exit code 1: the key is lost"),
    ("give_storage", ["sleep", "3600"], f"sleep 3600: the command did not exit within {LIMIT_S} s"),
]


@pytest.mark.parametrize(("key", "command", "words"), STUCK, ids=["fails", "hangs"])
def test_permanently_full_disk_ends_run_with_one_line_error(
    disk: Path, tmp_path: Path, key: str, command: list[str], words: str
) -> None:
    file = example(tmp_path, disk, **{key: json.dumps(command), "timeout_s": str(LIMIT_S)})
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run", *FULL, "-k", "full_storage or throttled")
    assert done.returncode == 2, done.stdout
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ERROR: ")]
    assert len(lines) == 1, done.stdout + done.stderr
    assert "its environment could not be restored: storage (" in lines[0]
    assert words in lines[0]
    assert run_json(tmp_path / "run")["aborted"] in lines[0]
    assert "Traceback" not in done.stdout + done.stderr


HALF = ["sh", "-c", f"cd {PLACE} && echo 1 > ballast; echo half full >&2; exit 1"]
HANGS = ["sh", "-c", f"cd {PLACE} && echo 1 > ballast; sleep 3600"]


@pytest.mark.parametrize(
    ("command", "words"), [(HALF, "exit code 1: half full"), (HANGS, f"did not exit within {LIMIT_S} s")]
)
def test_partly_taken_disk_space_is_restored_and_run_continues(
    disk: Path, tmp_path: Path, command: list[str], words: str
) -> None:
    file = example(tmp_path, disk, take_storage=json.dumps(command), timeout_s=str(LIMIT_S))
    done = mqconform(
        "run",
        "--sut",
        file,
        "--out",
        tmp_path / "run",
        *FULL,
        "--rule",
        "MQSO-5.5.1-01",
        "-k",
        "full_storage or throttled or survive_restart_except_express",
    )
    assert done.returncode == 1, done.stdout
    of = {(line["rule"], line["verdict"]): line["reason"] for line in verdicts(tmp_path / "run")}
    assert words in of["MQSO-5.5.5-01", "inconclusive"]
    assert ("MQSO-5.5.1-01", "pass") in of
    assert run_json(tmp_path / "run")["aborted"] is None
    assert not (disk / "ballast").exists()
