"""MS-MQMQ 2.2.7 QUEUE_FORMAT: formats that R_QMOpenRemoteQueue accepts and refuses (MS-MQMP 3.1.4.2), and the format
that a client sends.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.expectations import each, facts, fields, in_queue
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import (
    CONNECTOR,
    DEADLETTER,
    DEADXACT,
    DIRECT,
    JOURNAL,
    MACHINE,
    PRIVATE,
    PUBLIC,
    SUBQUEUE,
    SUBQUEUE_SUFFIX,
    SYSTEM,
    XACTONLY,
    queue_format,
)
from harness.wire.rpc_stub import octets
from suites.mqqp.steps.reader import Reader

OTHER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f7")
OPENED, REFUSED = "opened", "refused"


class Opening:
    """An opener of queues by QUEUE_FORMAT, which closes them again."""

    def __init__(self, remote) -> None:
        self.remote = remote
        self.association = remote.associate()
        self.frames: list[Frame] = []

    def __call__(self, kind, value, suffix=0, **more) -> str:
        """Describe the outcome."""
        call = self.remote.open_remote(self.association, form=queue_format(kind, value, suffix, **more))
        self.frames = call.evidence
        if call.outcome == "MQ_OK":
            self.association.call("R_QMCloseRemoteQueueContext", pphContext=call.out.pphContext)
            return OPENED
        return REFUSED if call.failed or call.thrown is not None else call.outcome


@pytest.fixture
def opening(remote):
    """Open queues by their formats."""
    return Opening(remote)


@pytest.fixture
def direct(sut):
    """Return the plain queue's direct name, as it stands in a QUEUE_FORMAT."""
    return sut.format_name("plain").removeprefix("DIRECT=")


@needs("qm2qm")
@covers("MQMQ-2.2.7-01", "MQMQ-2.2.7-02", "MQMQ-2.2.7-03", "MQMQ-2.2.7-10", "MQMQ-2.2.7-14")
def test_queue_format_with_wrong_type_or_flags_is_refused(opening, direct, sut, judge):
    """A direct name without flags and the machine with suffix 1 are opened, with any m_reserved.

    An unknown type, a direct name with Flags 0x80 or with XACTONLY, and the machine without a suffix are refused.
    """
    plain = opening(DIRECT, direct)
    evidence = opening.frames
    journals = opening(MACHINE, sut.guid, SYSTEM | JOURNAL)
    unknown = opening(9, direct, tag=DIRECT)
    judge(
        "MQMQ-2.2.7-01",
        expected={"DIRECT": OPENED, "MACHINE": OPENED, "9": REFUSED},
        observed={"DIRECT": plain, "MACHINE": journals, "9": unknown},
        evidence=[*evidence, *opening.frames],
    )
    observed = {"Flags 0x00": plain, "Flags 0x80": opening(DIRECT, direct, SYSTEM)}
    expected = {"Flags 0x00": OPENED, "Flags 0x80": REFUSED}
    judge("MQMQ-2.2.7-02", expected=expected, observed=observed, evidence=opening.frames)
    observed = {"no suffix": plain, "XACTONLY": opening(DIRECT, direct, XACTONLY)}
    expected = {"no suffix": OPENED, "XACTONLY": REFUSED}
    judge("MQMQ-2.2.7-10", expected=expected, observed=observed, evidence=opening.frames)
    observed = {"journal": journals, "no suffix": opening(MACHINE, sut.guid)}
    expected = {"journal": OPENED, "no suffix": REFUSED}
    judge("MQMQ-2.2.7-03", expected=expected, observed=observed, evidence=opening.frames)
    reserved = opening(DIRECT, direct, reserved=0xA5A5)
    judge("MQMQ-2.2.7-14", expected=OPENED, observed=reserved, evidence=opening.frames)


@needs("qm2qm")
@covers("MQMQ-2.2.7-04", "MQMQ-2.2.7-05", "MQMQ-2.2.7-06", "MQMQ-2.2.7-07", "MQMQ-2.2.7-08", "MQMQ-2.2.7-09")
def test_system_queue_is_opened_with_flags_0x80_and_its_type(opening, direct, sut, judge):
    """Queue journals and dead-letter queues are opened with their suffix, Flags 0x80 and a type that has such
    queues; without the flag or with another type they are refused.
    """
    journal = f"{direct};JOURNAL"
    ways = {
        "MQMQ-2.2.7-04": ((DIRECT, journal, SYSTEM | JOURNAL), (DIRECT, journal, JOURNAL)),
        "MQMQ-2.2.7-05": ((DIRECT, journal, SYSTEM | JOURNAL), (CONNECTOR, sut.guid, SYSTEM | JOURNAL)),
        "MQMQ-2.2.7-06": ((MACHINE, sut.guid, SYSTEM | DEADLETTER), (MACHINE, sut.guid, DEADLETTER)),
        "MQMQ-2.2.7-07": ((MACHINE, sut.guid, SYSTEM | DEADLETTER), (PUBLIC, sut.guid, SYSTEM | DEADLETTER)),
        "MQMQ-2.2.7-08": ((MACHINE, sut.guid, SYSTEM | DEADXACT), (MACHINE, sut.guid, DEADXACT)),
        "MQMQ-2.2.7-09": ((MACHINE, sut.guid, SYSTEM | DEADXACT), (PUBLIC, sut.guid, SYSTEM | DEADXACT)),
    }
    for rule, (right, wrong) in ways.items():
        first = opening(*right)
        evidence = opening.frames
        second = opening(*wrong)
        judge(
            rule,
            expected=facts(as_it_must_be=OPENED, otherwise=REFUSED),
            observed={"as_it_must_be": first, "otherwise": second},
            evidence=[*evidence, *opening.frames],
        )


@needs("qm2qm", "queue_control", "subqueues")
@covers("MQMQ-2.2.7-11", "MQMQ-2.2.7-12", "MQMQ-2.2.7-16")
def test_subqueue_is_opened_with_type_and_suffix_of_subqueues(opening, direct, sut, judge):
    """A subqueue is opened with type SUBQUEUE, the suffix of subqueues and a direct name with a subqueue.

    With Flags 0x80, as DIRECT, or with another name it is refused.
    """
    sut.control.call("create_queue", name=f"{sut.queue()};mqc-sub")
    name = f"{direct};mqc-sub"
    right = opening(SUBQUEUE, name, SUBQUEUE_SUFFIX)
    evidence = opening.frames
    for rule, *wrong in (
        ("MQMQ-2.2.7-11", (SUBQUEUE, name, SYSTEM | SUBQUEUE_SUFFIX)),
        ("MQMQ-2.2.7-12", (DIRECT, name, SUBQUEUE_SUFFIX)),
        ("MQMQ-2.2.7-16", (SUBQUEUE, direct, SUBQUEUE_SUFFIX), (SUBQUEUE, "no direct name;mqc-sub", SUBQUEUE_SUFFIX)),
    ):
        others = [opening(*way) for way in wrong]
        judge(
            rule,
            expected=facts(as_it_must_be=OPENED, otherwise=each(REFUSED)),
            observed={"as_it_must_be": right, "otherwise": others},
            evidence=[*evidence, *opening.frames],
        )


@needs("qm2qm", "queue_control")
@covers("MQMQ-2.2.7-15")
def test_private_queue_is_opened_by_objectid(opening, sut, judge):
    """PRIVATE with the GUID of the SUT and the number of a queue opens that queue or its journal; another Lineage or
    Uniquifier is refused.
    """
    name = sut.new_queue(journaling=True)
    lineage, _, number = sut.private_format_name(name).removeprefix("PRIVATE=").partition("\\")
    identifier, uniquifier = UUID(lineage), int(number, 16)
    seen = {"its_own": opening(PRIVATE, (identifier, uniquifier))}
    evidence = opening.frames
    seen["another_Lineage"] = opening(PRIVATE, (OTHER_GUID, uniquifier))
    seen["another_Uniquifier"] = opening(PRIVATE, (identifier, 0xFFF0_0000))
    expected = facts(its_own=OPENED, another_Lineage=REFUSED, another_Uniquifier=REFUSED)
    judge.all(expected=expected, observed=seen, evidence=evidence)
    path = rf"TCP:{sut.address}\{name}"
    remote, named = opening.remote, (identifier, uniquifier)
    remote.send_all([remote.peer.recoverable_message(label=one, destination=path) for one in ("a", "b")])
    queue, journal = (remote.open(form=queue_format(PRIVATE, named, one)) for one in (0, SYSTEM | JOURNAL))
    received = queue.start_receive()
    if received.outcome == "MQ_OK":
        queue.acknowledge(received).expect_success()
    observed = {"received": received.label_or_outcome, "queue": queue.labels(), "journal": journal.labels()}
    expected = facts(received="a", queue=["b"], journal=["a"])
    judge.all(expected=expected, observed=observed, evidence=received.evidence)


@needs("qm2qm", "directory", "queue_control")
@covers("MQMQ-2.2.7-02", "MQMQ-2.2.7-04", "MQMQ-2.2.7-D02")
def test_public_queue_is_opened_by_guid(opening, sut, judge):
    """PUBLIC with the GUID of a queue opens that queue, or with suffix and Flags 0x80 its journal; another GUID and
    Flags 0x80 without a suffix are refused.
    """
    name = f"mqc-{sut.own}-public"
    sut.create_queue(name, journaling=True)
    public = UUID(sut.format_names(name)["public"].removeprefix("PUBLIC="))
    ways = {"its_GUID": (public, 0), "another_GUID": (OTHER_GUID, 0), "a_flag": (public, SYSTEM)}
    seen = {name: opening(PUBLIC, *way) for name, way in ways.items()}
    expected = facts(its_GUID=OPENED, another_GUID=REFUSED, a_flag=REFUSED)
    judge("MQMQ-2.2.7-02", "MQMQ-2.2.7-D02", expected=expected, observed=seen, evidence=opening.frames)
    remote, path = opening.remote, rf"TCP:{sut.address}\{name}"
    remote.send_all([remote.peer.recoverable_message(label=one, destination=path) for one in ("a", "b")])
    queue, journal = (remote.open(form=queue_format(PUBLIC, public, one)) for one in (0, SYSTEM | JOURNAL))
    received = queue.start_receive()
    if received.outcome == "MQ_OK":
        queue.acknowledge(received).expect_success()
    judge("MQMQ-2.2.7-04", expected=in_queue("b"), observed=queue.labels(), evidence=received.evidence)
    judge("MQMQ-2.2.7-04", expected=in_queue("a"), observed=journal.labels(), evidence=received.evidence)
    opening.association.close()
    sut.delete_queue(name)


@needs("remote_read")
@covers("MQMQ-2.2.7-13")
def test_client_sets_m_reserved_to_zero(peer, sut, judge):
    """The SUT opens a queue of the peer: m_reserved of its QUEUE_FORMAT is 0."""
    reader = Reader(peer, sut)
    reader.begin_open()
    call = reader.await_first_call("R_QMOpenRemoteQueue")
    form = call.into.pQueueFormat
    observed = form.value.m_reserved if form is not None else "no QUEUE_FORMAT"
    judge("MQMQ-2.2.7-13", expected=0, observed=observed, evidence=call.evidence)


@needs("qm2qm", "receive")
@covers("MQMQ-2.2.7-D01", "MQMQ-2.2.7-D03")
def test_direct_name_is_read_without_its_prefix(opening, direct, judge):
    """A queue is opened by a direct name without DIRECT=, and its journal with m_SuffixAndFlags 0x81; 0x18 is
    refused.
    """
    plain = opening(DIRECT, direct)
    judge("MQMQ-2.2.7-D01", expected=OPENED, observed=plain, evidence=opening.frames)
    journal = f"{direct};JOURNAL"
    seen = {}
    for suffix in (SYSTEM | JOURNAL, SYSTEM >> 4 | JOURNAL << 4):
        seen[f"0x{suffix:02X}"] = opening(DIRECT, journal, suffix)
    expected = {"0x81": OPENED, "0x18": REFUSED}
    judge("MQMQ-2.2.7-D03", expected=expected, observed=seen, evidence=opening.frames)


@needs("qm2qm", "queue_control")
@covers("MQMQ-2.2.7-D02")
def test_each_queue_format_type_is_read_with_its_member(opening, direct, sut, judge):
    """A queue is opened by its direct name and by its OBJECTID, and the dead-letter queue by the GUID of the
    machine.
    """
    queue = sut.new_queue("members")
    number = int(sut.private_format_name(queue).rpartition("\\")[2], 16)
    ways = {
        "DIRECT": (DIRECT, direct),
        "PRIVATE": (PRIVATE, (sut.guid, number)),
        "MACHINE": (MACHINE, sut.guid, SYSTEM | DEADLETTER),
    }
    for name, way in ways.items():
        outcome = opening(*way)
        judge("MQMQ-2.2.7-D02", expected=fields({name: OPENED}), observed={name: outcome}, evidence=opening.frames)


def _direct_name(form):
    """Return the direct name of a QUEUE_FORMAT from the SUT, in lower case."""
    name = octets(form.arm.value)
    return "no text" if name is None else name.decode(errors="replace").rstrip("\0").lower()


@needs("remote_read")
@covers("MQMQ-2.2.7-D01", "MQMQ-2.2.7-D02")
def test_client_sends_direct_name_without_its_prefix(peer, sut, judge):
    """The SUT opens a queue of the peer by its direct name: m_qft is 3, and the member is the name without DIRECT=."""
    reader = Reader(peer, sut)
    reader.begin_open()
    call = reader.await_first_call("R_QMOpenRemoteQueue")
    form = call.into.pQueueFormat
    observed = {} if form is None else {"m_qft": form.value.m_qft, "name": _direct_name(form.value)}
    expected = facts(m_qft=DIRECT, name=reader.format_name.removeprefix("DIRECT=").lower())
    judge("MQMQ-2.2.7-D01", expected=expected, observed=observed, evidence=call.evidence)
    kinds = {} if form is None else {"m_qft": form.value.m_qft, "tag": form.value.arm.tag}
    judge("MQMQ-2.2.7-D02", expected=facts(m_qft=DIRECT, tag=DIRECT), observed=kinds, evidence=call.evidence)
