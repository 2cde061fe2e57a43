"""The control protocol: JSON objects become requests, and answers become JSON objects."""

from typing import Any
from uuid import UUID

import pytest

from reference_qm.control import ControlError, build_answer, parse_request
from reference_qm.surface.commands import (
    AbortTransaction,
    BeginTransaction,
    CloseCursor,
    CloseQueue,
    CommitTransaction,
    Configure,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    Identity,
    Inspect,
    ListQueues,
    MoveMessage,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    PeekMessages,
    PrepareTransaction,
    PurgeQueue,
    ReadByLookupIdentifier,
    ReceiveMessage,
    Result,
    SendMessage,
    SetQueue,
    SetTimers,
)
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteCloseCursor,
    RemoteOpen,
    RemoteOpenCursor,
    RemotePeek,
    RemotePurge,
    RemoteReadByLookupId,
    RemoteReceive,
)

GUID = "6d71636f-6e66-4f72-8d00-000000000001"
UNIT = UUID(GUID)


def sent(to: str, **fields: Any) -> SendMessage:
    """Return the request that ``send`` becomes. Without the argument, a message has no time limit to reach
    its queue.
    """
    return SendMessage(to, **{"time_to_reach_queue_s": 0xFFFF_FFFF} | fields)


REQUESTS = [
    ({"verb": "identity"}, Identity()),
    ({"verb": "create_queue", "name": "private$\\x", "transactional": True}, CreateQueue("private$\\x", True)),
    ({"verb": "create_queue", "name": "private$\\x"}, CreateQueue("private$\\x")),
    ({"verb": "delete_queue", "name": "q"}, DeleteQueue("q")),
    ({"verb": "list"}, ListQueues()),
    ({"verb": "send", "to": "x"}, sent("x")),
    (
        {"verb": "send", "to": "x", "authentication_level": "sig20", "hash_algorithm": "sha1", "sender": "alice"},
        sent("x", authentication_level="sig20", hash_algorithm="sha1", sender="alice"),
    ),
    (
        {"verb": "send", "to": "x", "privacy_level": "base", "sender": None, "certificate": "bob"},
        sent("x", privacy_level="base", certificate="bob"),
    ),
    (
        {"verb": "send", "to": "x", "time_to_reach_queue_s": None},
        SendMessage("x", time_to_reach_queue_s=None),
    ),
    ({"verb": "send", "to": "x", "body": "ä"}, sent("x", body="ä".encode())),
    ({"verb": "send", "to": "x", "body_base64": "AP8="}, sent("x", body=b"\x00\xff")),
    ({"verb": "send", "to": "x", "delivery": "express"}, sent("x")),
    ({"verb": "send", "to": "x", "delivery": "recoverable"}, sent("x", recoverable=True)),
    ({"verb": "send", "to": "x", "delivery": "transactional"}, sent("x", transactional=True)),
    (
        {
            "verb": "send",
            "to": "x",
            "label": "l",
            "priority": 5,
            "acks": ["positive_arrival"],
            "admin_queue": "a",
            "response_queue": None,
            "time_to_reach_queue_s": 10,
            "time_to_be_received_s": None,
            "journal": ["negative"],
            "application_tag": 7,
            "body_type": 8,
        },
        sent(
            "x",
            label="l",
            priority=5,
            acks=frozenset({"positive_arrival"}),
            admin_queue="a",
            time_to_reach_queue_s=10,
            journal=frozenset({"negative"}),
            application_tag=7,
            body_type=8,
        ),
    ),
    ({"verb": "receive", "queue": "q", "timeout_ms": 5}, ReceiveMessage("q", 5)),
    ({"verb": "receive", "queue": "q", "transaction": GUID}, ReceiveMessage("q", transaction=UNIT)),
    ({"verb": "send", "to": "x", "transaction": "{" + GUID.upper() + "}"}, sent("x", transaction=UNIT)),
    ({"verb": "receive_by_lookup_id", "transaction": GUID}, ReadByLookupIdentifier(transaction=UNIT)),
    (
        {"verb": "move", "queue": "q", "lookup_id": 5, "to": "q;s", "transaction": GUID},
        MoveMessage("q", 5, "q;s", transaction=UNIT),
    ),
    ({"verb": "begin"}, BeginTransaction()),
    ({"verb": "begin", "transaction": GUID, "external": True}, BeginTransaction(UNIT, external=True)),
    ({"verb": "prepare", "transaction": GUID, "single_phase": True}, PrepareTransaction(UNIT, single_phase=True)),
    ({"verb": "commit", "transaction": GUID}, CommitTransaction(UNIT)),
    ({"verb": "abort", "transaction": GUID}, AbortTransaction(UNIT)),
    ({"verb": "receive", "cursor": 3}, ReceiveMessage(cursor=3)),
    ({"verb": "get_queue", "name": "q"}, GetQueue("q")),
    ({"verb": "set_queue", "name": "q", "quota_kb": 5, "journaling": True}, SetQueue("q", quota_kb=5, journaling=True)),
    ({"verb": "create_queue", "name": "q", "privacy": "body"}, CreateQueue("q", privacy="body")),
    ({"verb": "create_queue", "name": "q", "security_base64": "AQ=="}, CreateQueue("q", security=b"\1")),
    ({"verb": "open_queue", "queue": "q", "deny_receive": True}, OpenQueue("q", deny_receive=True)),
    ({"verb": "close_queue", "handle": 1}, CloseQueue(1)),
    ({"verb": "open_cursor", "handle": 1}, OpenCursor(1)),
    ({"verb": "close_cursor", "cursor": 2}, CloseCursor(2)),
    ({"verb": "peek_message", "handle": 1, "timeout_ms": 5}, PeekMessage(handle=1, timeout_ms=5)),
    ({"verb": "peek_next", "cursor": 2}, PeekMessage(cursor=2, next=True)),
    ({"verb": "receive_by_lookup_id", "queue": "q", "lookup_id": 7}, ReadByLookupIdentifier(7, queue="q")),
    (
        {"verb": "peek_by_lookup_id", "handle": 1, "seek": "last"},
        ReadByLookupIdentifier(seek="last", peek=True, handle=1),
    ),
    ({"verb": "move", "queue": "q", "lookup_id": 7, "to": "q;s"}, MoveMessage("q", 7, "q;s")),
    ({"verb": "peek", "queue": "q", "limit": 5}, PeekMessages("q", 5)),
    ({"verb": "purge", "queue": "q"}, PurgeQueue("q")),
    ({"verb": "set_timers", "scale": 10, "session_cleanup_ms": None}, SetTimers(scale=10)),
    ({"verb": "configure"}, Configure()),
    (
        {"verb": "configure", "send_insecure_nacks": True, "preferred_base": "rc2", "user_cert_cache_size": 2},
        Configure(send_insecure_nacks=True, preferred_base="rc2", user_cert_cache_size=2),
    ),
    ({"verb": "inspect"}, Inspect()),
    (
        {"verb": "remote_open", "queue": "DIRECT=OS:x\\private$\\q", "access": "peek"},
        RemoteOpen("DIRECT=OS:x\\private$\\q", "peek"),
    ),
    ({"verb": "remote_receive", "remote": 3, "timeout_ms": None}, RemoteReceive(3, timeout_ms=None)),
    ({"verb": "remote_peek", "cursor": 4, "next": True}, RemotePeek(cursor=4, next=True)),
    ({"verb": "remote_receive_by_lookup_id", "remote": 3, "lookup_id": 9}, RemoteReadByLookupId(3, 9)),
    ({"verb": "remote_peek_by_lookup_id", "remote": 3, "seek": "last"}, RemoteReadByLookupId(3, 0, "last", True)),
    ({"verb": "remote_open_cursor", "remote": 3}, RemoteOpenCursor(3)),
    ({"verb": "remote_close_cursor", "cursor": 4}, RemoteCloseCursor(4)),
    ({"verb": "remote_purge", "remote": 3}, RemotePurge(3)),
    ({"verb": "remote_close", "remote": 3}, RemoteClose(3)),
]


@pytest.mark.parametrize(("arguments", "request_"), REQUESTS)
def test_control_line_becomes_a_request(arguments, request_):
    assert parse_request(arguments) == request_


WRONG = [
    ({}, "unknown verb None"),
    ({"verb": 5}, "unknown verb 5"),
    ({"verb": "restart"}, "unknown verb 'restart'; known: identity"),
    ({"verb": "identity", "x": 1}, "unknown argument 'x'; the verb takes no arguments"),
    ({"verb": "create_queue"}, "argument 'name' is missing"),
    ({"verb": "create_queue", "name": 5}, "name must be a string, not 5"),
    ({"verb": "create_queue", "name": "q", "transactional": 1}, "transactional must be true or false, not 1"),
    ({"verb": "send", "to": "x", "priority": True}, "priority must be an integer, not True"),
    ({"verb": "send", "to": "x", "priority": 1.0}, "must be an integer"),
    ({"verb": "send", "to": "x", "acks": "all"}, "acks must be a list of strings"),
    ({"verb": "published", "members": "x"}, "members must be a list of GUIDs"),
    ({"verb": "published", "members": ["x"]}, "members must be a GUID"),
    ({"verb": "create_queue", "name": "q", "security_base64": 1}, "security_base64 must be a string, not 1"),
    ({"verb": "create_queue", "name": "q", "security": "AQ=="}, "unknown argument 'security'"),
    ({"verb": "send", "to": "x", "acks": [5]}, "acks must be a list of strings"),
    ({"verb": "send", "to": "x", "delivery": "fast"}, "delivery must be one of express, recoverable, transactional"),
    ({"verb": "send", "to": "x", "delivery": []}, "delivery must be one of"),
    ({"verb": "send", "to": "x", "body_base64": "%"}, "body_base64 must be base64"),
    ({"verb": "send", "to": "x", "body_base64": "ä"}, "body_base64 must be base64"),
    ({"verb": "send", "to": "x", "body": "\ud800"}, "lone surrogates"),
    ({"verb": "send", "to": "x", "body": "a", "body_base64": "YQ=="}, "give only one of body and body_base64"),
    ({"verb": "send", "to": "x", "token": "x" * 100_000}, "unknown argument 'token'"),
    ({"verb": "peek_by_lookup_id", "transaction": GUID}, "unknown argument 'transaction'"),
    ({"verb": "commit"}, "argument 'transaction' is missing"),
    ({"verb": "commit", "transaction": "t"}, "transaction must be a GUID, not 't'"),
    ({"verb": "send", "to": "x", "trace_queue": f"{GUID},PUBLIC={GUID}"}, "trace_queue must be a GUID"),
    ({"verb": "commit", "transaction": 5}, "transaction must be a string, not 5"),
    ({"verb": "peek_next"}, "argument 'cursor' is missing"),
    ({"verb": "x\n" * 1_000}, "unknown verb"),
]


@pytest.mark.parametrize(("arguments", "part"), WRONG)
def test_invalid_control_line_is_refused_in_one_short_line(arguments, part):
    with pytest.raises(ControlError) as caught:
        parse_request(arguments)
    error = str(caught.value)
    assert part in error
    assert "\n" not in error
    assert len(error) < 800


def test_control_answers_have_request_number_and_values():
    assert build_answer(7, CommandCompleted(1, Result({"purged": 2}))) == {"id": 7, "ok": True, "purged": 2}
    assert build_answer("a", CommandRejected(1, "why")) == {"id": "a", "ok": False, "error": "why"}


def test_null_argument_selects_no_queue_or_cursor():
    with pytest.raises(ControlError, match="receive: handle must be an integer, not None"):
        parse_request({"verb": "receive", "queue": "q", "handle": None})
    assert parse_request({"verb": "receive", "queue": "q", "transaction": None}) == ReceiveMessage("q")
