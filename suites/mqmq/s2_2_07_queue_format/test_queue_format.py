"""MS-MQMQ 2.2.7 QUEUE_FORMAT: formats that the server accepts and refuses in R_QMOpenRemoteQueue (MS-MQMP 3.1.4.2), and
the format that a client sends.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import each, facts, in_queue
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import (
    DL_ID,
    PEEK_ACCESS,
    RECEIVE_ACCESS,
    SYSTEM_QUEUE_SUFFIX,
    FormatType,
    Suffix,
    queue_format,
)
from harness.wire.rpc_stub import octets
from suites.applications import list_computer_names
from suites.mqqp.steps.reader import Reader

UNKNOWN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f7")
OPENED_OUTCOME, REFUSED_OUTCOME = "opened", "refused"
NULL_GUID = UUID(int=0)
MULTICAST_UNION_MEMBER = bytes((234, 1, 1, 1)) + (8001).to_bytes(4, "little")
"""A MULTICAST_ID: an address and a port."""


class QueueFormatOpener:
    """A caller of R_QMOpenRemoteQueue; it closes each queue that it opens."""

    def __init__(self, remote):
        self.remote = remote
        self.association = remote.associate()
        self.frames = []

    def __call__(self, kind, value, suffix=0, access=RECEIVE_ACCESS, **more):
        """Open and close a queue; return OPENED, REFUSED or the unexpected outcome."""
        form = queue_format(kind, value, suffix, **more)
        call = self.remote.open_remote(self.association, access=access, form=form)
        self.frames = call.evidence
        if call.outcome == "MQ_OK":
            self.association.call("R_QMCloseRemoteQueueContext", pphContext=call.out.pphContext)
            return OPENED_OUTCOME
        return REFUSED_OUTCOME if call.failed or call.thrown is not None else call.outcome

    def open_to_receive_and_to_peek(self, kind, value, suffix=0):
        """Open and close a queue to receive and to peek; return OPENED if either is not refused, otherwise REFUSED."""
        found = [self(kind, value, suffix, access=access) for access in (RECEIVE_ACCESS, PEEK_ACCESS)]
        return next((one for one in found if one != REFUSED_OUTCOME), REFUSED_OUTCOME)


@pytest.fixture
def queue_opener(remote):
    """Return a caller of R_QMOpenRemoteQueue."""
    return QueueFormatOpener(remote)


@pytest.fixture
def plain_queue_direct_name(sut):
    """Return the direct name of the nontransactional queue, as in a QUEUE_FORMAT."""
    return sut.format_name("plain").removeprefix("DIRECT=")


@needs("qm2qm")
@covers("MQMQ-2.2.7-01", "MQMQ-2.2.7-02", "MQMQ-2.2.7-03", "MQMQ-2.2.7-10", "MQMQ-2.2.7-14")
def test_queue_format_with_wrong_type_or_flags_is_refused(queue_opener, plain_queue_direct_name, sut, judge):
    """The SUT accepts a QUEUE_FORMAT with a direct name and without flags, and one with a machine and suffix 1, for any
    value of m_reserved. It refuses an unknown type, a direct name with Flags 0x80 or with XACTONLY, and a machine
    without a suffix.
    """
    plain = queue_opener(FormatType.DIRECT, plain_queue_direct_name)
    evidence = queue_opener.frames
    journals = queue_opener(FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL)
    unknown = queue_opener(9, plain_queue_direct_name, tag=FormatType.DIRECT)
    judge(
        "MQMQ-2.2.7-01",
        expected={"DIRECT": OPENED_OUTCOME, "MACHINE": OPENED_OUTCOME, "9": REFUSED_OUTCOME},
        observed={"DIRECT": plain, "MACHINE": journals, "9": unknown},
        case="open of a queue by the value of m_qft",
        evidence=[*evidence, *queue_opener.frames],
    )
    observed = {
        "open with Flags 0x00": plain,
        "open with Flags 0x80": queue_opener(FormatType.DIRECT, plain_queue_direct_name, SYSTEM_QUEUE_SUFFIX),
    }
    expected = {"open with Flags 0x00": OPENED_OUTCOME, "open with Flags 0x80": REFUSED_OUTCOME}
    judge("MQMQ-2.2.7-02", expected=expected, observed=observed, evidence=queue_opener.frames)
    observed = {"open without a suffix": plain}
    for flags in (0, SYSTEM_QUEUE_SUFFIX):
        for kind, value in ((FormatType.DIRECT, plain_queue_direct_name), (FormatType.MACHINE, sut.guid)):
            found = queue_opener(kind, value, flags | Suffix.XACTONLY)
            observed[f"open of {kind.name} with XACTONLY and Flags 0x{flags:02X}"] = found
    expected = dict.fromkeys(observed, REFUSED_OUTCOME) | {"open without a suffix": OPENED_OUTCOME}
    judge("MQMQ-2.2.7-10", expected=expected, observed=observed, evidence=queue_opener.frames)
    observed = {
        "open of a machine with JOURNAL": journals,
        "open of a machine without a suffix": queue_opener.open_to_receive_and_to_peek(FormatType.MACHINE, sut.guid),
        "open of a machine with Flags 0x80 and no suffix": queue_opener.open_to_receive_and_to_peek(
            FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX
        ),
    }
    expected = dict.fromkeys(observed, REFUSED_OUTCOME) | {"open of a machine with JOURNAL": OPENED_OUTCOME}
    judge("MQMQ-2.2.7-03", expected=expected, observed=observed, evidence=queue_opener.frames)
    reserved = {
        "DIRECT": queue_opener(FormatType.DIRECT, plain_queue_direct_name, reserved=0xA5A5),
        "MACHINE": queue_opener(FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL, reserved=1),
    }
    judge(
        "MQMQ-2.2.7-14",
        expected=each(OPENED_OUTCOME, "open"),
        case="opens with nonzero m_reserved, by m_qft",
        observed=reserved,
        evidence=queue_opener.frames,
    )


@needs("qm2qm")
@covers("MQMQ-2.2.7-04", "MQMQ-2.2.7-05", "MQMQ-2.2.7-06", "MQMQ-2.2.7-07", "MQMQ-2.2.7-08", "MQMQ-2.2.7-09")
def test_system_queue_is_opened_with_flags_0x80_and_its_type(queue_opener, plain_queue_direct_name, sut, judge):
    """Queue journals and dead-letter queues are opened with their suffix, with Flags 0x80, and with a type that allows
    the suffix. Requests without the flag or with a different type are refused.
    """
    journal, host = f"{plain_queue_direct_name};JOURNAL", plain_queue_direct_name.partition("\\")[0]
    ways = {
        "MQMQ-2.2.7-04": (
            (FormatType.DIRECT, journal, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL),
            (FormatType.DIRECT, journal, Suffix.JOURNAL),
        ),
        "MQMQ-2.2.7-05": (
            (FormatType.DIRECT, journal, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL),
            (FormatType.CONNECTOR, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL),
            (FormatType.DL, DL_ID(m_DlGuid=sut.guid.bytes_le), SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL),
            (FormatType.MULTICAST, MULTICAST_UNION_MEMBER, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL),
        ),
        "MQMQ-2.2.7-06": (
            (FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADLETTER),
            (FormatType.MACHINE, sut.guid, Suffix.DEADLETTER),
            *(
                (FormatType.DIRECT, f"{host}\\SYSTEM$;DEADLETTER", flags | Suffix.DEADLETTER)
                for flags in (0x00, 0x10, 0x20, 0x40, 0xC0)
            ),
        ),
        "MQMQ-2.2.7-07": (
            (FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADLETTER),
            (FormatType.PUBLIC, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADLETTER),
        ),
        "MQMQ-2.2.7-08": (
            (FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADXACT),
            (FormatType.MACHINE, sut.guid, Suffix.DEADXACT),
            *(
                (FormatType.DIRECT, f"{host}\\SYSTEM$;DEADXACT", flags | Suffix.DEADXACT)
                for flags in (0x00, 0x10, 0x20, 0x40, 0xC0)
            ),
        ),
        "MQMQ-2.2.7-09": (
            (FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADXACT),
            (FormatType.PUBLIC, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADXACT),
        ),
    }
    for rule, (right, *wrong) in ways.items():
        first = queue_opener(*right)
        evidence = queue_opener.frames
        others = [queue_opener.open_to_receive_and_to_peek(*one) for one in wrong]
        judge(
            rule,
            expected=facts(open_by_a_valid_format=OPENED_OUTCOME, opens_by_wrong_formats=each(REFUSED_OUTCOME)),
            observed={"open_by_a_valid_format": first, "opens_by_wrong_formats": others},
            evidence=[*evidence, *queue_opener.frames],
        )


@needs("qm2qm", "queue_control", "subqueues")
@covers("MQMQ-2.2.7-01", "MQMQ-2.2.7-09", "MQMQ-2.2.7-11", "MQMQ-2.2.7-12", "MQMQ-2.2.7-16")
def test_subqueue_is_opened_with_type_and_suffix_of_subqueues(queue_opener, plain_queue_direct_name, sut, judge):
    """A subqueue is opened with type SUBQUEUE, the suffix of subqueues and a direct name with a subqueue. It is refused
    with Flags 0x80, with type DIRECT, or with a name without a subqueue.
    """
    sut.control.call("create_queue", name=f"{sut.queue()};mqc-sub")
    name = f"{plain_queue_direct_name};mqc-sub"
    right = queue_opener(FormatType.SUBQUEUE, name, Suffix.SUBQUEUE)
    evidence = queue_opener.frames
    for rule, *wrong in (
        (
            "MQMQ-2.2.7-11",
            *(
                (FormatType.SUBQUEUE, name, flags | Suffix.SUBQUEUE)
                for flags in (SYSTEM_QUEUE_SUFFIX, 0x10, 0x20, 0x40)
            ),
        ),
        ("MQMQ-2.2.7-09", (FormatType.SUBQUEUE, name, SYSTEM_QUEUE_SUFFIX | Suffix.DEADXACT)),
        ("MQMQ-2.2.7-01", (0, name, Suffix.SUBQUEUE), (9, name, Suffix.SUBQUEUE)),
        (
            "MQMQ-2.2.7-12",
            (FormatType.DIRECT, name, Suffix.SUBQUEUE),
            (FormatType.DIRECT, plain_queue_direct_name, Suffix.SUBQUEUE),
            (FormatType.MACHINE, sut.guid, Suffix.SUBQUEUE),
        ),
        (
            "MQMQ-2.2.7-16",
            (FormatType.SUBQUEUE, plain_queue_direct_name, Suffix.SUBQUEUE),
            (FormatType.SUBQUEUE, "no direct name;mqc-sub", Suffix.SUBQUEUE),
            (FormatType.SUBQUEUE, f"{plain_queue_direct_name};", Suffix.SUBQUEUE),
            (FormatType.SUBQUEUE, f"DIRECT={name}", Suffix.SUBQUEUE),
            (FormatType.SUBQUEUE, name.partition(":")[2], Suffix.SUBQUEUE),
            (FormatType.SUBQUEUE, name.partition("\\")[2], Suffix.SUBQUEUE),
        ),
    ):
        others = [queue_opener.open_to_receive_and_to_peek(*way) for way in wrong]
        judge(
            rule,
            expected=facts(open_by_a_valid_format=OPENED_OUTCOME, opens_by_wrong_formats=each(REFUSED_OUTCOME)),
            observed={"open_by_a_valid_format": right, "opens_by_wrong_formats": others},
            evidence=[*evidence, *queue_opener.frames],
        )


@needs("qm2qm", "queues")
@covers("MQMQ-2.2.7-01", "MQMQ-2.2.7-07", "MQMQ-2.2.7-09", "MQMQ-2.2.7-14", "MQMQ-2.2.7-15")
def test_private_queue_is_opened_by_objectid(queue_opener, sut, judge):
    """A private QUEUE_FORMAT with the GUID of the SUT, the number of a queue, and any m_reserved opens that queue or
    its journal. A wrong Lineage, a wrong Uniquifier, and the suffixes of dead-letter queues are refused.
    """
    name = sut.new_queue(journaling=True)
    lineage, _, number = sut.private_format_name(name).removeprefix("PRIVATE=").partition("\\")
    identifier, uniquifier = UUID(lineage), int(number, 16)
    seen = {"open_by_its_QUEUE_FORMAT": queue_opener(FormatType.PRIVATE, (identifier, uniquifier))}
    evidence = queue_opener.frames
    found = seen["open_by_its_QUEUE_FORMAT"]
    judge("MQMQ-2.2.7-01", expected=OPENED_OUTCOME, case="open by m_qft PRIVATE", observed=found, evidence=evidence)
    reserved = queue_opener(FormatType.PRIVATE, (identifier, uniquifier), reserved=0x8000)
    judge(
        "MQMQ-2.2.7-14",
        expected=OPENED_OUTCOME,
        case="open of a private queue with nonzero m_reserved",
        observed=reserved,
        evidence=queue_opener.frames,
    )
    seen["opens_with_a_wrong_Lineage"] = [
        queue_opener.open_to_receive_and_to_peek(FormatType.PRIVATE, (lineage, uniquifier), suffix)
        for lineage in (UNKNOWN_QUEUE_MANAGER_GUID, NULL_GUID)
        for suffix in (0, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL)
    ]
    seen["opens_with_a_wrong_Uniquifier"] = [
        queue_opener.open_to_receive_and_to_peek(FormatType.PRIVATE, (identifier, number), suffix)
        for number in (0xFFF0_0000, uniquifier ^ 0x0001_0000, uniquifier ^ 0x8000_0000)
        for suffix in (0, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL)
    ]
    expected = facts(
        open_by_its_QUEUE_FORMAT=OPENED_OUTCOME,
        opens_with_a_wrong_Lineage=each(REFUSED_OUTCOME),
        opens_with_a_wrong_Uniquifier=each(REFUSED_OUTCOME),
    )
    judge("MQMQ-2.2.7-15", expected=expected, observed=seen, evidence=evidence)
    for rule, suffix in (("MQMQ-2.2.7-07", Suffix.DEADLETTER), ("MQMQ-2.2.7-09", Suffix.DEADXACT)):
        observed = {
            "Flags 0x80": queue_opener(FormatType.PRIVATE, (identifier, uniquifier), SYSTEM_QUEUE_SUFFIX | suffix),
            "Flags 0x00": queue_opener(FormatType.PRIVATE, (identifier, uniquifier), suffix),
        }
        case = f"opens of a private queue with {suffix.name}"
        judge(rule, expected=each(REFUSED_OUTCOME, "open"), observed=observed, case=case, evidence=queue_opener.frames)
    path = rf"TCP:{sut.address}\{name}"
    remote, named = queue_opener.remote, (identifier, uniquifier)
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(label=one, destination=path) for one in ("a", "b")]
    )
    queue, journal = (
        remote.open(form=queue_format(FormatType.PRIVATE, named, one))
        for one in (0, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL)
    )
    received = queue.start_receive()
    if received.outcome == "MQ_OK":
        queue.acknowledge(received).expect_success()
    observed = {
        "label_of_the_received_message": received.label_or_outcome,
        "queue": queue.labels(),
        "journal": journal.labels(),
    }
    expected = facts(label_of_the_received_message="a", queue=in_queue("b"), journal=in_queue("a"))
    judge("MQMQ-2.2.7-15", expected=expected, observed=observed, evidence=received.evidence)


@needs("qm2qm", "directory", "queue_control")
@covers("MQMQ-2.2.7-01", "MQMQ-2.2.7-02", "MQMQ-2.2.7-04", "MQMQ-2.2.7-07")
@covers("MQMQ-2.2.7-09", "MQMQ-2.2.7-10", "MQMQ-2.2.7-D02")
def test_public_queue_is_opened_by_guid(queue_opener, sut, judge):
    """A public QUEUE_FORMAT with the GUID of a queue opens the queue or, with suffix and Flags 0x80, the journal of the
    queue. A wrong GUID, Flags 0x80 without a suffix, and the suffixes of dead-letter queues are refused.
    """
    name = f"mqc-{sut.own}-public"
    sut.create_queue(name, journaling=True)
    public = UUID(sut.format_names(name)["public"].removeprefix("PUBLIC="))
    ways = {
        "open_by_the_GUID_of_the_queue": (public, 0),
        "open_by_another_GUID": (UNKNOWN_QUEUE_MANAGER_GUID, 0),
        "open_with_a_flag": (public, SYSTEM_QUEUE_SUFFIX),
    }
    seen = {name: queue_opener(FormatType.PUBLIC, *way) for name, way in ways.items()}
    expected = facts(
        open_by_the_GUID_of_the_queue=OPENED_OUTCOME,
        open_by_another_GUID=REFUSED_OUTCOME,
        open_with_a_flag=REFUSED_OUTCOME,
    )
    judge("MQMQ-2.2.7-02", "MQMQ-2.2.7-D02", expected=expected, observed=seen, evidence=queue_opener.frames)
    found = seen["open_by_the_GUID_of_the_queue"]
    judge(
        "MQMQ-2.2.7-01",
        expected=OPENED_OUTCOME,
        case="open by m_qft PUBLIC",
        observed=found,
        evidence=queue_opener.frames,
    )
    only = [queue_opener(FormatType.PUBLIC, public, flags | Suffix.XACTONLY) for flags in (0, SYSTEM_QUEUE_SUFFIX)]
    case = "opens of a public queue with XACTONLY"
    judge("MQMQ-2.2.7-10", expected=[REFUSED_OUTCOME] * 2, case=case, observed=only, evidence=queue_opener.frames)
    for rule, suffix in (("MQMQ-2.2.7-07", Suffix.DEADLETTER), ("MQMQ-2.2.7-09", Suffix.DEADXACT)):
        observed = queue_opener(FormatType.PUBLIC, public, SYSTEM_QUEUE_SUFFIX | suffix)
        judge(
            rule,
            expected=REFUSED_OUTCOME,
            observed=observed,
            case=f"open with {suffix.name}",
            evidence=queue_opener.frames,
        )
    remote, path = queue_opener.remote, rf"TCP:{sut.address}\{name}"
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(label=one, destination=path) for one in ("a", "b")]
    )
    queue, journal = (
        remote.open(form=queue_format(FormatType.PUBLIC, public, one))
        for one in (0, SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL)
    )
    received = queue.start_receive()
    if received.outcome == "MQ_OK":
        queue.acknowledge(received).expect_success()
    judge("MQMQ-2.2.7-04", expected=in_queue("b"), observed=queue.labels(), evidence=received.evidence)
    judge("MQMQ-2.2.7-04", expected=in_queue("a"), observed=journal.labels(), evidence=received.evidence)
    queue_opener.association.close()
    sut.delete_queue(name)


@needs("remote_read")
@covers("MQMQ-2.2.7-13")
def test_client_sets_m_reserved_to_zero(peer, sut, judge):
    """The SUT opens a queue of the peer twice, to receive and to peek, and then the journal of the queue: m_reserved of
    each QUEUE_FORMAT is 0.
    """
    reader = Reader(peer, sut)
    reader.begin_open_queue()
    calls = [reader.await_first_call("R_QMOpenRemoteQueue")]
    for name, access in ((reader.format_name, "peek"), (f"{reader.format_name};JOURNAL", "receive")):
        reader.begin("remote_open", queue=name, access=access).wait()
        calls = reader.server.wait("R_QMOpenRemoteQueue", count=len(calls) + 1)
    forms = [call.decoded_request.pQueueFormat for call in calls if call.decoded_request is not None]
    observed = [form.value.m_reserved if form is not None else "no QUEUE_FORMAT" for form in forms]
    evidence = [frame for call in calls for frame in call.evidence]
    judge("MQMQ-2.2.7-13", expected=each(0), case="m_reserved", observed=observed, evidence=evidence)


@needs("qm2qm", "receive")
@covers("MQMQ-2.2.7-D01", "MQMQ-2.2.7-D03")
def test_direct_name_is_read_without_its_prefix(queue_opener, plain_queue_direct_name, judge):
    """A queue is opened by a direct name without DIRECT=, and its journal with m_SuffixAndFlags 0x81. The SUT refuses
    values that differ in one bit of the suffix or of the flags from 0x81 or, for the queue itself, from 0x00. It also
    refuses a value in which suffix and flags are exchanged.
    """
    plain = queue_opener(FormatType.DIRECT, plain_queue_direct_name)
    judge(
        "MQMQ-2.2.7-D01",
        expected=OPENED_OUTCOME,
        case="open by a direct name without DIRECT=",
        observed=plain,
        evidence=queue_opener.frames,
    )
    host = plain_queue_direct_name.partition("\\")[0]
    names = {
        "protocol in lower case": (plain_queue_direct_name.replace("TCP:", "tcp:"), 0),
        "dead-letter queue": (rf"{host}\SYSTEM$;DEADLETTER", SYSTEM_QUEUE_SUFFIX | Suffix.DEADLETTER),
    }
    judge(
        "MQMQ-2.2.7-D01",
        expected=each(OPENED_OUTCOME, "direct name"),
        case="opens by direct names without DIRECT=",
        observed={name: queue_opener(FormatType.DIRECT, *of_name) for name, of_name in names.items()},
        evidence=queue_opener.frames,
    )
    journal = f"{plain_queue_direct_name};JOURNAL"
    seen = {}
    right = SYSTEM_QUEUE_SUFFIX | Suffix.JOURNAL
    for suffix in (
        right,
        SYSTEM_QUEUE_SUFFIX >> 4 | Suffix.JOURNAL << 4,
        *(right ^ 1 << bit for bit in (3, 4, 5, 6, 7)),
    ):
        seen[f"0x{suffix:02X}"] = queue_opener(FormatType.DIRECT, journal, suffix)
    for bit in (3, 4, 5, 6, 7):
        seen[f"0x{1 << bit:02X} for the queue itself"] = queue_opener(
            FormatType.DIRECT, plain_queue_direct_name, 1 << bit
        )
    expected = {name: OPENED_OUTCOME if name == "0x81" else REFUSED_OUTCOME for name in seen}
    judge(
        "MQMQ-2.2.7-D03",
        expected=expected,
        observed=seen,
        evidence=queue_opener.frames,
        case="open by the value of m_SuffixAndFlags",
    )


@needs("qm2qm", "queues")
@covers("MQMQ-2.2.7-D02")
def test_each_queue_format_type_is_read_with_its_member(queue_opener, plain_queue_direct_name, sut, judge):
    """A queue is opened by its direct name and by its OBJECTID, and the dead-letter queue by the GUID of the machine.
    System queues cannot be opened by the GUID of another machine.
    """
    queue = sut.new_queue("members")
    number = int(sut.private_format_name(queue).rpartition("\\")[2], 16)
    ways = {
        "DIRECT": (FormatType.DIRECT, plain_queue_direct_name),
        "PRIVATE": (FormatType.PRIVATE, (sut.guid, number)),
        "MACHINE": (FormatType.MACHINE, sut.guid, SYSTEM_QUEUE_SUFFIX | Suffix.DEADLETTER),
    }
    for name, way in ways.items():
        outcome = queue_opener(*way)
        case = f"open by a QUEUE_FORMAT of type {name}"
        judge("MQMQ-2.2.7-D02", expected=OPENED_OUTCOME, observed=outcome, evidence=queue_opener.frames, case=case)
    for suffix in (Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT):
        outcome = queue_opener(FormatType.MACHINE, UNKNOWN_QUEUE_MANAGER_GUID, SYSTEM_QUEUE_SUFFIX | suffix)
        case = f"open by the GUID of another machine with {suffix.name}"
        judge("MQMQ-2.2.7-D02", expected=REFUSED_OUTCOME, observed=outcome, evidence=queue_opener.frames, case=case)


def _build_direct_name(form):
    """Return, in lower case, the direct name in a QUEUE_FORMAT that the SUT sent."""
    name = octets(form.arm.value)
    return "no text" if name is None else name.decode(errors="replace").rstrip("\0").lower()


@needs("remote_read")
@covers("MQMQ-2.2.7-D01", "MQMQ-2.2.7-D02")
def test_client_sends_direct_name_without_its_prefix(peer, sut, judge):
    """The SUT opens a queue of the peer by its direct name: m_qft is 3, and m_pDirectID is the name without DIRECT=."""
    reader = Reader(peer, sut)
    reader.begin_open_queue()
    call = reader.await_first_call("R_QMOpenRemoteQueue")
    form = call.decoded_request.pQueueFormat
    observed = {} if form is None else {"m_qft": form.value.m_qft, "direct_name": _build_direct_name(form.value)}
    expected = facts(m_qft=FormatType.DIRECT, direct_name=reader.format_name.removeprefix("DIRECT=").lower())
    judge("MQMQ-2.2.7-D01", expected=expected, observed=observed, evidence=call.evidence)
    judge.conclude("MQMQ-2.2.7-D01")
    kinds = {} if form is None else {"m_qft": form.value.m_qft, "union_tag": form.value.arm.tag}
    judge(
        "MQMQ-2.2.7-D02",
        expected=facts(m_qft=FormatType.DIRECT, union_tag=FormatType.DIRECT),
        observed=kinds,
        evidence=call.evidence,
    )


@needs("remote_read")
@covers("MQMQ-2.2.7-D01")
def test_client_sends_direct_name_of_journal_without_its_prefix(peer, sut, judge):
    """The SUT opens the journal of a queue of the peer by its direct name: m_pDirectID does not begin with DIRECT=."""
    reader = Reader(peer, sut)
    reader.begin_open_queue(f"{reader.format_name};JOURNAL")
    call = reader.await_first_call("R_QMOpenRemoteQueue")
    form = call.decoded_request.pQueueFormat
    if form is None or form.value.m_qft != FormatType.DIRECT:
        judge.mark_not_exercised("MQMQ-2.2.7-D01", reason="the SUT does not open a journal by its direct name")
        return
    name = _build_direct_name(form.value)
    begins = {"name": name.partition("\\")[0]}
    expected = facts(name=reader.format_name.removeprefix("DIRECT=").partition("\\")[0].lower())
    judge("MQMQ-2.2.7-D01", expected=expected, observed=begins, case="host in m_pDirectID", evidence=call.evidence)


@needs("qm2qm", "queue_control")
@covers("MQMQ-2.2.7-D01")
def test_direct_name_with_computer_name_is_read_without_its_prefix(queue_opener, sut, judge):
    """A queue is opened by direct names with the protocol OS and the computer name, without DIRECT=."""
    queue = sut.new_queue("named")
    observed = {name: queue_opener(FormatType.DIRECT, rf"OS:{name}\{queue}") for name in list_computer_names(sut)}
    judge(
        "MQMQ-2.2.7-D01",
        expected=each(OPENED_OUTCOME, "computer name"),
        observed=observed,
        case="opens by the computer name",
        evidence=queue_opener.frames,
    )
