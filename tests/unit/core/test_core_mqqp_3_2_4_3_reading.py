"""MS-MQQP 2.2.2.1, 3.2.1.1, 3.2.1.2, 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6: messages are read remotely; 3.1.4.11."""

import pytest
from core_remote import CURSOR, DESCRIPTOR, HANDLE, READ_PORT, Remote, described, fault, message, read, returning

from reference_qm.rpc import CallOrphaned
from reference_qm.surface.effects import Rejected
from reference_qm.surface.remote_commands import (
    RemoteOpenCursor,
    RemotePeek,
    RemoteReadByLookupId,
    RemoteReceive,
)

PEEK_CURRENT, PEEK_NEXT = 0x80000000, 0x80000001
TIMED_OUT = 0xC00E001B
LOOKUP_ID = 0x0700_0000_0000_1234
"""The SequentialId 0x1234 of a message of priority 0."""


def version(*numbers):
    names = ("pMajor", "pMinor", "pBuildNumber")
    return lambda call: call.respond(**dict(zip(names, numbers, strict=True)))


def sent(remote, method="RemoteQMStartReceive2"):
    arguments = remote.arguments(method)
    return arguments.get("lpRemoteReadDesc") or arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]


def test_a_message_is_received_and_acknowledged():
    remote = Remote()
    found = remote.ask(RemoteReceive(remote.open()))["message"]
    assert (found["body"], found["label"], found["arrived_time"]) == ("far", "a label", 1_700_000_123)
    assert found["lookup_id"] == LOOKUP_ID
    assert remote.methods == ["RemoteQmGetVersion", "RemoteQMStartReceive2", "RemoteQMEndReceive"]
    (handle,) = [call.handle for call in remote.calls["RemoteQMEndReceive"]]
    assert handle.kind == "PCTX_REMOTEREAD_HANDLE_TYPE"
    assert remote.arguments("RemoteQMEndReceive")["dwAck"] == 2
    assert remote.pending() == []


def test_a_message_is_peeked_at_and_not_acknowledged():
    remote = Remote()
    assert remote.ask(RemotePeek(remote.open()))["message"]["body"] == "far"
    assert remote.methods == ["RemoteQmGetVersion", "RemoteQMStartReceive2"]
    assert remote.pending() == []


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("cursor", [False, True])
@pytest.mark.parametrize(
    ("request_type", "fields", "action"),
    [(RemoteReceive, {}, 0), (RemotePeek, {}, PEEK_CURRENT), (RemotePeek, {"next": True}, PEEK_NEXT)],
)
def test_what_the_description_holds(old, cursor, request_type, fields, action):
    if fields and not cursor:
        return  # there is a next message only for a cursor
    remote = Remote()
    if old:
        remote.answers["RemoteQmGetVersion"] = version(5, 0, 2195)
    where = {"remote": remote.open()}
    if cursor:
        where = {"cursor": remote.ask(RemoteOpenCursor(where["remote"]))["cursor"]}
        assert remote.arguments("R_QMCreateRemoteCursor")["hQueue"] == HANDLE
    remote.ask(request_type(**where, timeout_ms=1500, **fields))
    assert sent(remote, "RemoteQMStartReceive" if old else "RemoteQMStartReceive2") == {
        "hRemoteQueue": HANDLE,
        "hCursor": CURSOR if cursor else 0,
        "ulAction": action,
        "ulTimeout": 1500,
        "dwSize": 0,
        "dwQueue": DESCRIPTOR,
        "dwRequestID": 1,
        "Reserved": 0,
        "dwArriveTime": 0,
        "eAckNack": 0,
        "lpBuffer": None,
    }
    if not old:
        assert remote.arguments("RemoteQMStartReceive2")["lpRemoteReadDesc2"]["SequentialId"] == 0
    assert remote.methods.count("RemoteQMEndReceive") == (request_type is RemoteReceive)


@pytest.mark.parametrize(
    ("numbers", "method"),
    [
        ((4, 9, 9999), "RemoteQMStartReceive"),
        ((5, 0, 2195), "RemoteQMStartReceive"),
        ((5, 0, 950), "RemoteQMStartReceive"),
        ((5, 1, 2600), "RemoteQMStartReceive2"),
        ((5, 2, 3790), "RemoteQMStartReceive2"),
        ((6, 0, 6001), "RemoteQMStartReceive2"),
        ((10, 0, 65535), "RemoteQMStartReceive2"),
    ],
)
def test_the_version_of_the_server_says_which_method_is_called(numbers, method):
    remote = Remote()
    remote.answers["RemoteQmGetVersion"] = version(*numbers)
    found = remote.ask(RemoteReceive(remote.open()))["message"]
    assert remote.methods[1] == method
    assert found["lookup_id"] == (LOOKUP_ID if method.endswith("2") else None)


def test_a_server_without_versions_is_an_old_one():
    """Note <21>: Windows NT and Windows 2000 have no such method."""
    remote = Remote()
    remote.answers["RemoteQmGetVersion"] = fault(0x1C010002)
    remote.ask(RemoteReceive(remote.open()))
    assert remote.methods[1] == "RemoteQMStartReceive"


def test_another_fault_of_the_version_ends_the_read():
    remote = Remote()
    remote.answers["RemoteQmGetVersion"] = fault(5)
    assert "0x00000005" in remote.refusal(RemoteReceive(remote.open()))
    assert remote.pending() == []


def test_pending_reads_have_identifiers_of_their_own():
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    tokens = [remote.begin(RemoteReceive(number, timeout_ms=1000)) for _ in range(3)]
    assert remote.pending() == [
        {"OpenQueueDescriptorHandle": HANDLE, "RequestId": number, "RemoteReadHandle": None} for number in (1, 2, 3)
    ]
    for call in remote.calls["RemoteQMStartReceive2"]:
        remote.answer(call, read(call))
    assert all(token in remote.results for token in tokens)
    assert remote.pending() == []


def test_an_identifier_in_use_is_stepped_over_when_they_begin_again():
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    remote.begin(RemoteReceive(number, timeout_ms=None))
    remote.core.remote_client.last_request_id = 0xFFFFFFFF
    remote.begin(RemoteReceive(number, timeout_ms=None))
    assert [entry["RequestId"] for entry in remote.pending()] == [1, 2]


def test_no_message_in_time_is_no_error():
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMStartReceive2"] = returning(TIMED_OUT)
    assert remote.ask(RemoteReceive(number, timeout_ms=10)) == {"message": None}
    assert "RemoteQMEndReceive" not in remote.methods
    assert remote.pending() == []


@pytest.mark.parametrize("status", [0xC00E0006, 0xC000000D, 0xC00E7777])
def test_every_failure_is_treated_the_same(status):
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMStartReceive2"] = returning(status)
    assert f"{status:#010x}" in remote.refusal(RemoteReceive(number))
    assert "RemoteQMEndReceive" not in remote.methods
    assert remote.pending() == []


def test_an_infinite_time_out_is_all_ones_and_never_ends_here():
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    token = remote.begin(RemoteReceive(number, timeout_ms=None))
    assert sent(remote)["ulTimeout"] == 0xFFFFFFFF
    remote.advance(30 * 86_400_000)
    assert token not in remote.results


def test_a_server_that_does_not_answer_in_time_is_given_up():
    remote = Remote()
    number = remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    token = remote.begin(RemoteReceive(number, timeout_ms=10_000))
    remote.advance(309_999)
    assert token not in remote.results
    remote.advance(1)
    assert "not answered in time" in remote.error(token)
    assert isinstance(remote.events[-1], CallOrphaned)
    assert remote.pending() == []


@pytest.mark.parametrize(
    "buffer",
    [b"", b"x", b"no packet at all" * 8, message()[:-1], message()[:20] + b"\xff" * 200],
    ids=["empty", "a byte", "other bytes", "cut", "broken"],
)
def test_what_is_no_message_is_given_back(buffer):
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMStartReceive2"] = lambda call: read(call, buffer)
    assert "no UserMessage Packet" in remote.refusal(RemoteReceive(number))
    assert remote.arguments("RemoteQMEndReceive")["dwAck"] == 1
    assert remote.pending() == []


def test_a_server_that_says_it_read_a_message_and_sends_none():
    remote = Remote()
    number = remote.open()

    def nothing(call):
        desc2 = {"pRemoteReadDesc": described(call, None), "SequentialId": 0}
        return call.respond(pphContext=call.new_handle("read"), lpRemoteReadDesc2=desc2, Return=0)

    remote.answers["RemoteQMStartReceive2"] = nothing
    assert "is NULL" in remote.refusal(RemoteReceive(number))


def test_a_message_whose_acknowledgment_fails_is_not_given_out():
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMEndReceive"] = returning(0xC00E0007)
    assert "RemoteQMEndReceive returned" in remote.refusal(RemoteReceive(number))
    assert remote.pending() == []


@pytest.mark.parametrize(
    ("seek", "peek", "action", "sent_id"),
    [
        ("first", False, 0x40000021, 0),
        ("first", True, 0x40000011, 0),
        ("previous", False, 0x40000022, 77),
        ("previous", True, 0x40000012, 77),
        ("current", False, 0x40000020, 77),
        ("current", True, 0x40000010, 77),
        ("next", False, 0x40000021, 77),
        ("next", True, 0x40000011, 77),
        ("last", False, 0x40000022, 0xFFFFFFFFFFFFFFFF),
        ("last", True, 0x40000012, 0xFFFFFFFFFFFFFFFF),
    ],
)
def test_a_message_is_read_by_its_lookup_identifier(seek, peek, action, sent_id):
    remote = Remote()
    number = remote.open()
    found = remote.ask(RemoteReadByLookupId(number, 77, seek, peek))["message"]
    assert found["lookup_id"] == LOOKUP_ID
    assert remote.arguments("RemoteQMStartReceiveByLookupId")["LookupId"] == sent_id
    description = sent(remote, "RemoteQMStartReceiveByLookupId")
    assert (description["ulAction"], description["hCursor"], description["ulTimeout"]) == (action, 0, 0)
    assert ("RemoteQMEndReceive" in remote.methods) is not peek


@pytest.mark.parametrize(
    ("request_made", "why"),
    [
        (RemoteReceive(), "give one of them"),
        (RemoteReceive(1, 1), "give one of them"),
        (RemoteReceive(99), "no remote queue 99"),
        (RemoteReceive(cursor=99), "no remote cursor 99"),
        (RemotePeek(99, next=True), "next message only for a cursor"),
        (RemoteReceive(99, timeout_ms=-1), "timeout_ms"),
        (RemoteReadByLookupId(99, 1, "nearest"), "is none of first"),
        (RemoteReadByLookupId(99, -1), "lookup_id"),
        (RemoteReadByLookupId(99, 0, "current"), "0 names no message"),
        (RemoteReadByLookupId(99, 0, "previous"), "0 names no message"),
    ],
)
def test_requests_that_make_no_sense_are_refused(request_made, why):
    assert why in Remote().refusal(request_made)


def test_a_queue_opened_to_peek_is_not_received_from():
    remote = Remote()
    number = remote.open(access="peek")
    assert "opened to peek" in remote.refusal(RemoteReceive(number))
    assert "opened to peek" in remote.refusal(RemoteReadByLookupId(number, 1))
    assert remote.log == []
    assert remote.ask(RemotePeek(number))["message"]["body"] == "far"


def test_two_servers_with_the_same_handles_are_kept_apart():
    """Reading: an entry is found by its server too, not by the handle alone."""
    remote = Remote()
    one, two = remote.open(), remote.open()
    remote.waits.add("RemoteQMStartReceive2")
    remote.begin(RemoteReceive(one, timeout_ms=None))
    remote.begin(RemoteReceive(two, timeout_ms=None))
    first, second = remote.core.remote_client.PendingRemoteReadEntryCollection
    assert (first.queue.number, second.queue.number) == (one, two)
    assert [port for port, _ in remote.connections.values()] == [READ_PORT, READ_PORT]
    assert not any(isinstance(answer, Rejected) for answer in remote.results.values())
