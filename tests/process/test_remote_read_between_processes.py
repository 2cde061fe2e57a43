"""MS-MQQP 3.2.4: one ``serve`` process reads the queue of another process, and the suites judge it as a remote reader
over loopback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqconform_process import mqconform, sut, unfounded, verdicts
from qm_process import Control, free_port, serve

QUEUE = "private$\\orders"
FLAGS = ("--tcp-port", "0", "--ping-port", "0", "--control", "127.0.0.1:0")
FAR_ADDRESS = "127.0.7.2"
FAR_TOML = f"[rpc]\nport = 0\n[[queues]]\nname = '{QUEUE}'\n"
LARGE = "x" * 1_000_000


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Control, Control]]:
    """Yield two control channels: that of the reader, and that of the queue manager whose queue it reads."""
    folders = [tmp_path / name for name in ("far", "near")]
    for folder in folders:
        folder.mkdir()
    with serve(folders[0], "--address", FAR_ADDRESS, *FLAGS, toml=FAR_TOML) as far:
        port = far.endpoint("rpc")[1]
        near_toml = f"[remote]\nrpc_port = {port}\n[rpc]\nport = 0\n"
        with (
            serve(folders[1], "--address", "127.0.7.1", *FLAGS, toml=near_toml) as near,
            near.control() as reader,
            far.control() as owner,
        ):
            yield reader, owner


def put(owner: Control, *bodies: str) -> None:
    for body in bodies:
        owner.call("send", to=f"DIRECT=TCP:{FAR_ADDRESS}\\{QUEUE}", body=body)


def opened(reader: Control) -> int:
    return int(reader.call("remote_open", queue=f"DIRECT=TCP:{FAR_ADDRESS}\\{QUEUE}")["remote"])


def test_served_process_reads_queue_of_second_process(pair: tuple[Control, Control]) -> None:
    reader, owner = pair
    put(owner, "one", "two", LARGE)
    remote = opened(reader)
    assert reader.call("remote_peek", remote=remote)["message"]["body"] == "one"
    cursor = reader.call("remote_open_cursor", remote=remote)["cursor"]
    assert reader.call("remote_peek", cursor=cursor)["message"]["body"] == "one"
    assert reader.call("remote_peek", cursor=cursor, next=True)["message"]["body"] == "two"
    last = reader.call("remote_receive_by_lookup_id", remote=remote, seek="last")["message"]
    assert last["body"] == LARGE
    assert [reader.call("remote_receive", remote=remote)["message"]["body"] for _ in range(2)] == ["one", "two"]
    assert reader.call("remote_receive", remote=remote)["message"] is None
    reader.call("remote_close", remote=remote)
    assert owner.call("peek", queue=QUEUE)["messages"] == []


def test_remote_read_between_processes_waits_and_is_cancelled(pair: tuple[Control, Control]) -> None:
    reader, owner = pair
    remote = opened(reader)
    waiting = reader.ask("remote_receive", remote=remote, timeout_ms=None)
    put(owner, "late")
    answer = reader.read_reply()
    assert (answer["id"], answer["message"]["body"]) == (waiting, "late")
    cancelled = reader.ask("remote_receive", remote=remote, timeout_ms=None)
    reader.ask("cancel", request=cancelled)
    answers = {each["id"]: each for each in (reader.read_reply(), reader.read_reply())}
    assert answers[cancelled]["ok"] is False
    assert answers[cancelled + 1]["cancelled"] is True
    put(owner, "kept")
    assert [one["body"] for one in owner.call("peek", queue=QUEUE)["messages"]] == ["kept"]


def test_restart_of_queue_owner_ends_waiting_remote_reads(pair: tuple[Control, Control]) -> None:
    reader, owner = pair
    remote = opened(reader)
    waiting = reader.ask("remote_receive", remote=remote, timeout_ms=None)
    owner.call("restart")
    answer = reader.read_reply()
    assert (answer["id"], answer["ok"]) == (waiting, False)
    assert "lost" in answer["error"]
    put(owner, "again")
    assert reader.call("remote_receive", remote=opened(reader))["message"]["body"] == "again"


def test_suites_judge_a_served_process_as_remote_reader(tmp_path: Path) -> None:
    port = free_port("127.0.8.2")
    (tmp_path / "qm.toml").write_text(f"[remote]\nrpc_port = {port}\n[rpc]\nenabled = false\n", encoding="utf-8")
    command = [
        *("{python}", "-m", "mqconform", "serve", "--config", str(tmp_path / "qm.toml"), "--address", "{address}"),
        *("--tcp-port", "{tcp_port}", "--ping-port", "{ping_port}", "--control", "127.0.0.1:{control_port}"),
    ]
    text = f"""
[sut]
name = "reader"
[driver]
kind = "process"
address = "127.0.8.1"
tcp_port = 0
ping_port = 0
rpc_port = 0
peer_address = "127.0.8.2"
peer_rpc_port = {port}
command = {command}
[control]
kind = "jsonl"
"""
    sections = [f"--rule=MQQP-3.2.4.{rule}" for rule in ("1-02", "1-15", "3-36", "5-35", "7-03", "8-02", "9-05")]
    done = mqconform("run", "--sut", sut(tmp_path, text), "--out", tmp_path / "out", *sections)
    assert done.returncode == 0, done.stdout + done.stderr
    found = Counter(line["verdict"] for line in verdicts(tmp_path / "out") if not line["advice"])
    assert set(found) == {"pass"}
    assert found["pass"] > 20
    assert unfounded(tmp_path / "out") == []
