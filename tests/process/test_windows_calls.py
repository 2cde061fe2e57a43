"""The calls of Windows that the agent makes: Mono runs its class OnWindows on replacements that record the calls.

The replacements (tests/windows) have the members, signatures and errors of Windows according to its sources
(docs/windows.md). They refuse a call with a wrong member name or wrong arguments, as Windows would.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import communicate, run_watched

from benchmarks.agents import WINDOWS_AGENT

HERE = Path(__file__).parents[1] / "windows"
NATIVE = ("mqrt.dll", "kernel32.dll", "advapi32.dll")
IDENTIFIER = bytes(range(16))
NEAR, FAR = "private$\\near", "DIRECT=OS:there\\private$\\far"
OPENED = ["MessageQueue FormatName:DIRECT=OS:.\\private$\\near {}", "ReadHandle"]
WORK = "11111111-0000-0000-0000-000000000001"

pytestmark = pytest.mark.skipif(
    shutil.which("mcs") is None or shutil.which("gcc") is None, reason="mono-mcs or gcc is missing (scripts/setup.sh)"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the Windows agent with replacements for its two assemblies and for the native libraries."""
    folder = tmp_path_factory.mktemp("recorded")
    compiled = ["mcs", "-langversion:5", "-r:System.Transactions"]
    for name, source in (
        ("System.Messaging", "RecordedMessaging.cs"),
        ("System.ServiceProcess", "RecordedServices.cs"),
    ):
        run_watched([*compiled, "-target:library", f"-out:{folder}/{name}.dll", HERE / source], check=True)
    references = [f"-r:{folder}/System.Messaging.dll", f"-r:{folder}/System.ServiceProcess.dll"]
    run_watched([*compiled, *references, f"-out:{folder}/Agent.exe", WINDOWS_AGENT], check=True)
    native = folder / "librecorded.so"
    run_watched(["gcc", "-shared", "-fPIC", "-o", native, HERE / "recorded_windows.c"], check=True)
    maps = "".join(f'<dllmap dll="{name}" target="{native}"/>' for name in NATIVE)
    (folder / "Agent.exe.config").write_text(f"<configuration>{maps}</configuration>", encoding="utf-8")
    return folder / "Agent.exe"


def register(folder: Path, key: str, name: str, kind: str, value: str) -> None:
    """Write a value to the registry of the local machine in the format of Mono."""
    path = folder / "registry/LocalMachine" / key.lower() / "values.xml"
    path.parent.mkdir(parents=True)
    path.write_text(f'<values><value name="{name}" type="{kind}">{value}</value></values>', encoding="utf-8")


def asked(
    program: Path, folder: Path, *requests: dict[str, Any], after_wait: tuple[dict[str, Any], ...] = ()
) -> tuple[list[dict[str, Any]], list[str]]:
    """Send requests to the agent; return its answers in the order of the requests, and the calls that it made.

    ``after_wait``: requests that are sent while a read waits.
    """
    lines = [json.dumps({"id": number, **request}) for number, request in enumerate((*requests, *after_wait))]
    record = folder / "record"
    record.touch()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "MQ_RECORD": str(record)}
    environment["MONO_REGISTRY_PATH"] = str(folder / "registry")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(["mono", str(program)], env=environment, text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.writelines(f"{line}\n" for line in lines[: len(requests)])
        process.stdin.flush()
        if after_wait:
            assert process.stderr.readline() == "waits\n"
            process.stdin.writelines(f"{line}\n" for line in lines[len(requests) :])
            process.stdin.flush()
        said = [process.stdout.readline() for _ in lines]  # at the end of its input the agent answers no more
        rest, complaints = communicate(process)
    assert (process.returncode, rest, complaints) == (0, "", "")
    answers = sorted(map(json.loads, said), key=lambda answer: answer["id"])
    return answers, record.read_text(encoding="utf-8").splitlines()


def with_queue(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    made = {"verb": "create_queue", "name": NEAR}
    return [made, {"verb": "send", "to": f"DIRECT=OS:.\\{NEAR}", "body": "one"}, *requests]


def calls_after_send(calls: list[str]) -> list[str]:
    return calls[calls.index("Send FormatName:DIRECT=OS:.\\private$\\near None") + 2 :]


def test_windows_agent_reads_identity_from_registry(program: Path, tmp_path: Path) -> None:
    encoded = base64.b64encode(IDENTIFIER).decode()
    register(tmp_path, "SOFTWARE/Microsoft/MSMQ/Parameters/MachineCache", "QMId", "bytearray", encoded)
    (answer,), calls = asked(program, tmp_path, {"verb": "identity"})
    assert answer["guid"] == "03020100-0504-0706-0809-0a0b0c0d0e0f"
    assert calls == []


def test_created_queue_grants_access_to_everyone(program: Path, tmp_path: Path) -> None:
    _, calls = asked(program, tmp_path, *with_queue())
    assert calls[:3] == [
        "MessageQueue.Create .\\private$\\near False",
        "SetPermissions Everyone: ReceiveMessage, PeekMessage, WriteMessage, GetQueueProperties",
        "SetPermissions NT AUTHORITY\\ANONYMOUS LOGON: WriteMessage",
    ]


def test_each_windows_read_requests_the_lookup_identifier(program: Path, tmp_path: Path) -> None:
    """Each read requests the lookup identifier, because a Message of Windows throws when a property is read that its
    filter did not request.
    """
    answers, calls = asked(
        program, tmp_path, *with_queue({"verb": "peek", "queue": NEAR}, {"verb": "receive", "queue": NEAR})
    )
    (peeked,), received = answers[2]["messages"], answers[3]["message"]
    assert (peeked["lookup_id"], peeked["source"]) == (71, "11111111-2222-3333-4444-555555555555")
    assert (received["lookup_id"], received["body"]) == (71, "one")
    assert calls_after_send(calls)[:3] == [OPENED[0].format("Peek"), OPENED[1], "Close"]


def test_cursor_and_lookup_calls_use_existing_windows_members(program: Path, tmp_path: Path) -> None:
    answers, calls = asked(
        program,
        tmp_path,
        *with_queue(
            {"verb": "open_queue", "queue": NEAR, "deny_receive": True},
            {"verb": "open_cursor", "handle": 1},
            {"verb": "peek_message", "cursor": 2},
            {"verb": "peek_next", "cursor": 2},
            {"verb": "close_cursor", "cursor": 2},
            {"verb": "peek_by_lookup_id", "handle": 1, "lookup_id": 71, "seek": "next"},
            {"verb": "receive_by_lookup_id", "handle": 1, "lookup_id": 99},
        ),
    )
    assert [answer["ok"] for answer in answers] == [True] * 8 + [False]
    assert answers[-1]["error"] == "MQ_ERROR_MESSAGE_NOT_FOUND (0xC00E0088)"
    assert calls_after_send(calls)[:9] == [
        OPENED[0].format("Receive"),
        "DenySharedReceive",
        "ReadHandle",
        "CreateCursor",
        "Peek 00:00:00 cursor Current",
        "Peek 00:00:00 cursor Next",
        "Cursor.Close",
        "PeekByLookupId Next 71",
        "ReceiveByLookupId Current None 99",
    ]


def test_windows_agent_cancels_waiting_read_and_keeps_its_handle_open(program: Path, tmp_path: Path) -> None:
    answers, calls = asked(
        program,
        tmp_path,
        {"verb": "create_queue", "name": NEAR},
        {"verb": "open_queue", "queue": NEAR},
        {"verb": "receive", "handle": 1, "timeout_ms": None},
        after_wait=({"verb": "cancel", "request": 2}, {"verb": "cancel", "request": 2}),
    )
    assert (answers[2]["ok"], answers[2]["error"]) == (False, "MQ_ERROR_OPERATION_CANCELLED (0xC00E0008)")
    assert answers[3] == {"id": 3, "ok": True, "cancelled": True}
    assert (answers[4]["ok"], answers[4]["error"]) == (False, "cancel: no request 2 waits")
    assert "CancelIoEx 17" in calls
    assert "Close" not in calls[calls.index("ReadHandle") : calls.index("CancelIoEx 17")]


def test_windows_agent_reads_and_frees_each_variant_of_management_calls(program: Path, tmp_path: Path) -> None:
    answers, calls = asked(
        program, tmp_path, {"verb": "list"}, {"verb": "pause_queue", "to": FAR}, {"verb": "resume_queue", "to": FAR},
        {"verb": "pause_queue", "to": "DIRECT=OS:nowhere\\private$\\far"}, {"verb": "take_offline"},
    )  # fmt: skip
    assert answers[0]["queues"] == [
        {"name": f"private$\\{name}", "transactional": False, "count": 47} for name in ("near", "other")
    ]
    assert answers[0]["outgoing"] == [{"format_name": FAR, "state": "Disconnected", "count": 47}]
    assert calls[:2] == ["MQMgmtGetInfo MACHINE: 1 2", "MQFreeMemory: all"]
    assert calls.count("MQFreeMemory: all") == 3
    assert f"MQMgmtAction QUEUE={FAR}: PAUSE" in calls
    assert f"MQMgmtAction QUEUE={FAR}: RESUME" in calls
    assert (
        answers[3]["error"] == "PAUSE of QUEUE=DIRECT=OS:nowhere\\private$\\far: MQ_ERROR_QUEUE_NOT_FOUND (0xC00E0003)"
    )
    assert "MQMgmtAction MACHINE: DISCONNECT" in calls


def test_a_message_is_moved_and_rejected_by_functions_of_mqrt(program: Path, tmp_path: Path) -> None:
    sub = f"{NEAR};sub"
    work = {"transaction": WORK}
    answers, calls = asked(
        program,
        tmp_path,
        {"verb": "move", "queue": NEAR, "lookup_id": 71, "to": sub},
        {"verb": "begin", **work},
        {"verb": "move", "queue": NEAR, "lookup_id": 72, "to": sub, **work},
        {"verb": "reject", "queue": NEAR, "lookup_id": 73, **work},
        {"verb": "commit", **work},
        {"verb": "begin", "external": True, **work},
        {"verb": "reject", "queue": NEAR, "lookup_id": 74, **work},
    )
    assert [answer["ok"] for answer in answers] == [True, True, True, False, True, True, True]
    assert answers[3]["unsupported"] is True
    opened = [
        "MQOpenQueue DIRECT=OS:.\\private$\\near access 1 share 0",
        "MQOpenQueue DIRECT=OS:.\\private$\\near;sub access 4 share 0",
    ]
    assert calls == [
        *opened, "MQMoveMessage 101 to 102: 71 alone", "MQCloseQueue 102", "MQCloseQueue 101",
        "MessageQueueTransaction.Begin",
        *opened, "MQMoveMessage 103 to 104: 72 in a transaction", "MQCloseQueue 104", "MQCloseQueue 103",
        "MessageQueueTransaction.Commit",
        opened[0], "MQMarkMessageRejected 105: 74", "MQCloseQueue 105",
    ]  # fmt: skip


def test_windows_restart_waits_for_queue_manager_and_restarts_dependents(program: Path, tmp_path: Path) -> None:
    _, calls = asked(program, tmp_path, {"verb": "restart"})
    assert calls == [
        "service: MSMQ Stop",
        "service: MSMQ WaitForStatus Stopped",
        "service: MSMQ Start",
        "service: MSMQ WaitForStatus Running",
        "MQMgmtGetInfo MACHINE: 1",
        "MQFreeMemory: all",
        "service: MSMQTriggers Start",
        "service: MSMQTriggers WaitForStatus Running",
    ]


def test_disabled_coordinator_is_not_startable_and_is_restored_at_end(program: Path, tmp_path: Path) -> None:
    answers, calls = asked(program, tmp_path, {"verb": "environment", "coordinator": False})
    assert (answers[0]["service"], answers[0]["coordinator"]) == (True, False)
    assert calls == [
        "ChangeServiceConfig 99: type -1 start 4",
        "service: handle closed",
        "service: MSDTC Stop",
        "service: MSDTC WaitForStatus Stopped",
        "service: MSDTC Start",
        "service: MSDTC WaitForStatus Running",
    ]


def test_a_coordinator_that_another_agent_left_disabled_is_startable_again(program: Path, tmp_path: Path) -> None:
    register(tmp_path, "SYSTEM/CurrentControlSet/Services/MSDTC", "Start", "int", "4")
    answers, calls = asked(program, tmp_path, {"verb": "environment", "coordinator": True})
    assert answers[0]["coordinator"] is True
    assert calls == ["ChangeServiceConfig 99: type -1 start 3", "service: handle closed"]


def test_message_protection_is_set_by_its_properties(program: Path, tmp_path: Path) -> None:
    protected = {"authentication_level": "sig10", "hash_algorithm": "sha1", "privacy_level": "enhanced"}
    made = {"verb": "create_queue", "name": NEAR}
    _, calls = asked(
        program, tmp_path, made, {"verb": "send", "to": f"DIRECT=OS:.\\{NEAR}", "body": "one", **protected}
    )
    assert [call.rpartition("SetUI4 ")[2] for call in calls if "SetUI4" in call] == ["24 2", "26 32772", "23 3"]
