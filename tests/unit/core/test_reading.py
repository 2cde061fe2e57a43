"""MS-MQQP 2.2.2.1, 3.2.1.1, 3.2.1.2, 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6: messages are read remotely; 3.1.4.11."""

import pytest
from core_remote import CURSOR, DESCRIPTOR, HANDLE, Remote, described, fault, message, read, returning

from reference_qm.rpc import CallOrphaned
from reference_qm.surface.remote_commands import (
    RemoteOpenCursor,
    RemotePeek,
    RemoteReadByLookupId,
    RemoteReceive,
)

PEEK_CURRENT, PEEK_NEXT = 0x80000000, 0x80000001
TIMED_OUT = 0xC00E001B


def version(*numbers):
    names = ("pMajor", "pMinor", "pBuildNumber")
    return lambda call: call.respond(**dict(zip(names, numbers, strict=True)))


def sent(remote, method="RemoteQMStartReceive2"):
    arguments = remote.arguments(method)
    return arguments.get("lpRemoteReadDesc") or arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("cursor", [False, True])
@pytest.mark.parametrize(
    ("request_type", "fields", "action"),
    [(RemoteReceive, {}, 0), (RemotePeek, {}, PEEK_CURRENT), (RemotePeek, {"next": True}, PEEK_NEXT)],
)
def test_remote_read_description_has_the_specified_fields(old, cursor, request_type, fields, action):
    if fields and not cursor:
        return  # there is a only a cursor has a next message
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


def test_server_without_version_method_counts_as_old_version():
    """A server that lacks the method for its version counts as an old version. MS-MQQP note <21>: Windows NT and
    Windows 2000 lack the method.
    """
    remote = Remote()
    remote.answers["RemoteQmGetVersion"] = fault(0x1C010002)
    remote.ask(RemoteReceive(remote.open()))
    assert remote.methods[1] == "RemoteQMStartReceive"


def test_remote_read_timeout_returns_no_message():
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMStartReceive2"] = returning(TIMED_OUT)
    assert remote.ask(RemoteReceive(number, timeout_ms=10)) == {"message": None}
    assert "RemoteQMEndReceive" not in remote.methods
    assert remote.pending() == []


def test_remote_read_fails_when_its_server_does_not_answer_in_time():
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
def test_invalid_packet_of_a_remote_read_is_returned_by_rr_nack(buffer):
    remote = Remote()
    number = remote.open()
    remote.answers["RemoteQMStartReceive2"] = lambda call: read(call, buffer)
    assert "malformed UserMessage Packet" in remote.refusal(RemoteReceive(number))
    assert remote.arguments("RemoteQMEndReceive")["dwAck"] == 1
    assert remote.pending() == []


def test_successful_remote_read_response_without_message_gives_error():
    remote = Remote()
    number = remote.open()

    def nothing(call):
        desc2 = {"pRemoteReadDesc": described(call, None), "SequentialId": 0}
        return call.respond(pphContext=call.make_context_handle("read"), lpRemoteReadDesc2=desc2, Return=0)

    remote.answers["RemoteQMStartReceive2"] = nothing
    assert "is NULL" in remote.refusal(RemoteReceive(number))


@pytest.mark.parametrize(
    ("request_made", "why"),
    [
        (RemoteReceive(), "give exactly one of "),
        (RemoteReceive(1, 1), "give exactly one of "),
        (RemoteReceive(99), "remote queue 99"),
        (RemoteReceive(cursor=99), "remote cursor 99"),
        (RemotePeek(99, next=True), "only a cursor has a next message"),
        (RemoteReceive(99, timeout_ms=-1), "timeout_ms"),
        (RemoteReadByLookupId(99, 1, "nearest"), "is not one of first"),
        (RemoteReadByLookupId(99, -1), "lookup_id"),
        (RemoteReadByLookupId(99, 0, "current"), "0 identifies no message"),
        (RemoteReadByLookupId(99, 0, "previous"), "0 identifies no message"),
    ],
)
def test_invalid_remote_read_requests_are_refused(request_made, why):
    assert why in Remote().refusal(request_made)


def test_a_queue_opened_to_peek_is_not_received_from():
    remote = Remote()
    number = remote.open(access="peek")
    assert "opened only to peek" in remote.refusal(RemoteReceive(number))
    assert "opened only to peek" in remote.refusal(RemoteReadByLookupId(number, 1))
    assert remote.log == []
    assert remote.ask(RemotePeek(number))["message"]["body"] == "far"
