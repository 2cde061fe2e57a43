"""MS-MQMQ 2.2.7 QUEUE_FORMAT, 2.2.8 OBJECTID: the QUEUE_FORMATs that a client sends to open remote queues."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import SYSTEM_QUEUE_SUFFIX, FormatType, Suffix
from harness.wire.rpc_stub import octets
from suites.mqqp.steps.reader import Reader

pytestmark = needs("remote_read")

QUEUE_FORMAT_SUFFIX_MASK = 0x0F
DIRECT_NAME_TYPES = (FormatType.DIRECT, FormatType.SUBQUEUE)


def open_queue_of_peer(peer, sut, name):
    """Let the SUT open a queue of the peer; return the SUT's R_QMOpenRemoteQueue, or None if the SUT makes no call."""
    reader = Reader(peer, sut)
    reader.begin_open_queue(name).wait()
    return next((call for call in reader.server.wait("R_QMOpenRemoteQueue") if call.decoded_request is not None), None)


def open_queue_with_each_access(peer, sut, name):
    """Let the SUT open a queue of the peer to receive and then to peek; return its calls of R_QMOpenRemoteQueue."""
    reader = Reader(peer, sut)
    calls = []
    for access in ("receive", "peek"):
        reader.begin("remote_open", queue=name, access=access).wait()
        calls = [
            call for call in reader.server.list_calls_of("R_QMOpenRemoteQueue") if call.decoded_request is not None
        ]
    return calls


def describe_queue_format(call):
    """Return m_qft, m_SuffixAndFlags and the union member of the QUEUE_FORMAT in a call, as text in lower case."""
    form = call.decoded_request.pQueueFormat.value
    arm = form.arm.value
    if form.m_qft in DIRECT_NAME_TYPES:
        return form.m_qft, form.m_SuffixAndFlags, (octets(arm) or b"").decode(errors="replace").rstrip("\0").lower()
    guid, number = bytes(arm)[:16], bytes(arm)[16:]
    text = str(UUID(bytes_le=guid)) + (f" {int.from_bytes(number, 'little')}" if number else "")
    return form.m_qft, form.m_SuffixAndFlags, text


@needs("private_names")
@covers("MQMQ-2.2.7-D02", "MQMQ-2.2.7-15", "MQMQ-2.2.7-02")
@pytest.mark.parametrize("number", [1, 0xBEEF, 0xFFFF_FFFE], ids=hex)
def test_client_sends_objectid_of_private_queue(peer, sut, judge, number):
    """The SUT opens a queue of the peer by a private format name: m_qft is 2, m_SuffixAndFlags is 0, Lineage is the
    GUID of the peer, and Uniquifier is the number of the queue.
    """
    call = open_queue_of_peer(peer, sut, peer.build_private_format_name_of_peer(number))
    if call is None:
        judge.mark_not_exercised(
            "MQMQ-2.2.7-D02", "MQMQ-2.2.7-15", "MQMQ-2.2.7-02", reason="the SUT does not open queues by a private name"
        )
        return
    kind, suffix, member = describe_queue_format(call)
    judge("MQMQ-2.2.7-D02", expected=FormatType.PRIVATE, case="m_qft", observed=kind, evidence=call.evidence)
    judge("MQMQ-2.2.7-02", expected=0, case="m_SuffixAndFlags", observed=suffix, evidence=call.evidence)
    judge(
        "MQMQ-2.2.7-15",
        expected=f"{peer.identifier} {number}",
        case="Lineage and Uniquifier in the QUEUE_FORMAT",
        observed=member,
        evidence=call.evidence,
    )


@needs("public_names")
@covers("MQMQ-2.2.7-D02", "MQMQ-2.2.7-02")
def test_client_sends_guid_of_public_queue(peer, sut, judge):
    """The SUT opens a queue of the peer by a public format name: m_qft is 1, m_SuffixAndFlags is 0, and the union
    contains the GUID of the queue.
    """
    call = open_queue_of_peer(peer, sut, peer.format_name_of_public_queue)
    if call is None:
        judge.mark_not_exercised(
            "MQMQ-2.2.7-D02", "MQMQ-2.2.7-02", reason="the SUT does not open queues by a public name"
        )
        return
    kind, suffix, member = describe_queue_format(call)
    expected, observed = (
        facts(m_qft=FormatType.PUBLIC, member=peer.format_name_of_public_queue.removeprefix("PUBLIC=")),
        {"m_qft": kind, "member": member},
    )
    judge("MQMQ-2.2.7-D02", expected=expected, observed=observed, evidence=call.evidence)
    judge("MQMQ-2.2.7-02", expected=0, case="m_SuffixAndFlags", observed=suffix, evidence=call.evidence)


SYSTEM_QUEUES = {
    "MQMQ-2.2.7-04": (f"{Reader.PEER_QUEUE_NAME};JOURNAL", Suffix.JOURNAL),
    "MQMQ-2.2.7-06": ("SYSTEM$;DEADLETTER", Suffix.DEADLETTER),
    "MQMQ-2.2.7-08": ("SYSTEM$;DEADXACT", Suffix.DEADXACT),
}
"""For each rule, the path of a system queue, and the suffix of the queue's QUEUE_FORMAT."""


@pytest.mark.parametrize("rule", [pytest.param(rule, marks=covers(rule), id=rule) for rule in SYSTEM_QUEUES])
def test_client_sets_flags_0x80_for_system_queue(peer, sut, judge, rule):
    """The SUT opens a queue journal or a dead-letter queue of the peer: m_SuffixAndFlags has the suffix of the queue
    and Flags 0x80.
    """
    path, suffix = SYSTEM_QUEUES[rule]
    call = open_queue_of_peer(peer, sut, rf"DIRECT=TCP:{peer.address}\{path}")
    found = 0 if call is None else describe_queue_format(call)[1]
    if call is None or not found & QUEUE_FORMAT_SUFFIX_MASK:
        judge.mark_not_exercised(
            rule, reason="the SUT does not open queues with this suffix", evidence=call.evidence if call else None
        )
        return
    judge(rule, expected=SYSTEM_QUEUE_SUFFIX | suffix, case="m_SuffixAndFlags", observed=found, evidence=call.evidence)


@needs("subqueues")
@covers("MQMQ-2.2.7-11", "MQMQ-2.2.7-12", "MQMQ-2.2.7-16")
def test_client_sends_direct_name_of_subqueue_as_subqueue(peer, sut, judge):
    """The SUT opens a subqueue of the peer to receive and to peek: m_qft is 8, m_SuffixAndFlags is the suffix of
    subqueues without Flags 0x80, and the union contains a direct name with the subqueue.
    """
    rules = ("MQMQ-2.2.7-11", "MQMQ-2.2.7-12", "MQMQ-2.2.7-16")
    calls = open_queue_with_each_access(peer, sut, rf"DIRECT=TCP:{peer.address}\{Reader.PEER_QUEUE_NAME};sub")
    call = calls[0] if calls else None
    kind, suffix, member = (0, 0, "") if call is None else describe_queue_format(call)
    if call is None or suffix & QUEUE_FORMAT_SUFFIX_MASK != Suffix.SUBQUEUE:
        judge.mark_not_exercised(
            *rules, reason="the SUT does not open queues with this suffix", evidence=call.evidence if call else None
        )
        return
    for one in calls:
        found = describe_queue_format(one)[1]
        judge("MQMQ-2.2.7-11", expected=Suffix.SUBQUEUE, case="m_SuffixAndFlags", observed=found, evidence=one.evidence)
    judge("MQMQ-2.2.7-12", expected=FormatType.SUBQUEUE, case="m_qft", observed=kind, evidence=call.evidence)
    judge(
        "MQMQ-2.2.7-16",
        expected=rf"tcp:{peer.address}\{Reader.PEER_QUEUE_NAME};sub",
        case="direct name in the QUEUE_FORMAT",
        observed=member,
        evidence=call.evidence,
    )
