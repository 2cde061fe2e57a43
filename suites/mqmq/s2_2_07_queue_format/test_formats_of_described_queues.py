"""MS-MQMQ 2.2.7 QUEUE_FORMAT: formats that the server refuses in R_QMGetObjectProperties (MS-MQMP 3.1.4.9)."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc import NDR, QMCOMM
from harness.wire.rpc_propvariant import (
    GET_OBJECT_PROPERTIES_OPNUM,
    VT_NULL,
    PropVariant,
    build_get_object_properties_stub,
    read_object_properties,
)
from harness.wire.rpc_qmcomm import SYSTEM_QUEUE_SUFFIX, FormatType, Suffix
from harness.wire.rpc_status import get_status_name
from harness.wire.wire_error import WireError

PROPERTIES_RETURNED_OUTCOME, REFUSED_OUTCOME = "described", "refused"
UNKNOWN_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f7")
LABEL_PROPERTY_ID = 108
"""The identifier of the property PROPID_Q_LABEL."""
FAILURE_BIT = 0x8000_0000
"""The bit of an HRESULT that is set in every failure."""
JOURNAL_SUFFIX, DEAD_LETTER_SUFFIX, TRANSACTIONAL_DEAD_LETTER_SUFFIX = (
    SYSTEM_QUEUE_SUFFIX | suffix for suffix in (Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)
)
"""m_SuffixAndFlags of the queues that need Flags 0x80."""


class QueueLabelReader:
    """A caller of R_QMGetObjectProperties, which reads the label of a queue."""

    def __init__(self, remote):
        self.association = remote.associate(QMCOMM, transfers=(NDR,))
        self.frames = []

    def __call__(self, kind, name, suffix=0):
        """Read the label of the queue that a QUEUE_FORMAT identifies; return DESCRIBED, REFUSED or the unexpected
        outcome.
        """
        stub = build_get_object_properties_stub(
            False, name, [LABEL_PROPERTY_ID], [PropVariant(VT_NULL)], kind=kind, suffix=suffix
        )
        call = self.association.call_raw(GET_OBJECT_PROPERTIES_OPNUM, stub, self.association.contexts[QMCOMM]).wait()
        self.frames = call.evidence
        if call.thrown is not None:
            return REFUSED_OUTCOME
        if not call.answered:
            return call.outcome
        try:
            result = read_object_properties(call.stub, False)[1]
        except WireError as error:
            raise ConformanceFailure(f"the SUT's answer is malformed: {error}") from error
        return (
            PROPERTIES_RETURNED_OUTCOME
            if not result
            else REFUSED_OUTCOME
            if result & FAILURE_BIT
            else get_status_name(result)
        )


def _judge_refusals_of_wrong_queue_formats(judge, queue_label_reader, plain_queue_direct_name, ways):
    """Judge that the SUT does not describe a queue by the wrong formats that ``ways`` lists for each rule. If the SUT
    does not describe a queue by a valid format, mark the rules as not exercised.
    """
    outcome = queue_label_reader(FormatType.DIRECT, plain_queue_direct_name)
    evidence = queue_label_reader.frames
    if outcome != PROPERTIES_RETURNED_OUTCOME:
        reason = f"R_QMGetObjectProperties is {outcome} for a valid format"
        judge.mark_not_exercised(*ways, reason=reason, evidence=evidence)
        return
    for rule, forms in ways.items():
        observed = {}
        for kind, name, suffix in forms:
            observed[f"{kind.name} with m_SuffixAndFlags 0x{suffix:02X} and {name}"] = queue_label_reader(
                kind, name, suffix
            )
            evidence = [*evidence, *queue_label_reader.frames]
        case = "descriptions of queues by wrong formats"
        judge(rule, expected=each(REFUSED_OUTCOME, "description"), observed=observed, case=case, evidence=evidence)


@pytest.fixture
def queue_label_reader(remote):
    """Return a caller of R_QMGetObjectProperties."""
    return QueueLabelReader(remote)


@pytest.fixture
def plain_queue_direct_name(sut):
    """Return the direct name of the nontransactional queue, as in a QUEUE_FORMAT."""
    return sut.format_name("plain").removeprefix("DIRECT=")


@needs("qm2qm")
@covers(
    "MQMQ-2.2.7-02",
    "MQMQ-2.2.7-03",
    "MQMQ-2.2.7-04",
    "MQMQ-2.2.7-05",
    "MQMQ-2.2.7-06",
    "MQMQ-2.2.7-07",
    "MQMQ-2.2.7-08",
    "MQMQ-2.2.7-09",
    "MQMQ-2.2.7-10",
    "MQMQ-2.2.7-12",
    "MQMQ-2.2.7-D02",
)
def test_queue_is_not_described_by_wrong_format(queue_label_reader, plain_queue_direct_name, sut, judge):
    """The SUT describes a queue by its direct name. It does not describe a queue by a format with a wrong suffix, with
    wrong Flags, with a type that does not allow the suffix, or with the GUID of another machine.
    """
    journal = f"{plain_queue_direct_name};JOURNAL"
    ways = {
        "MQMQ-2.2.7-02": [(FormatType.DIRECT, plain_queue_direct_name, SYSTEM_QUEUE_SUFFIX)],
        "MQMQ-2.2.7-03": [(FormatType.MACHINE, sut.guid, 0)],
        "MQMQ-2.2.7-04": [(FormatType.DIRECT, journal, Suffix.JOURNAL)],
        "MQMQ-2.2.7-05": [(FormatType.CONNECTOR, sut.guid, JOURNAL_SUFFIX)],
        "MQMQ-2.2.7-06": [(FormatType.MACHINE, sut.guid, Suffix.DEADLETTER)],
        "MQMQ-2.2.7-07": [
            (FormatType.PUBLIC, sut.guid, DEAD_LETTER_SUFFIX),
            (FormatType.CONNECTOR, sut.guid, DEAD_LETTER_SUFFIX),
        ],
        "MQMQ-2.2.7-08": [(FormatType.MACHINE, sut.guid, Suffix.DEADXACT)],
        "MQMQ-2.2.7-09": [
            (FormatType.PUBLIC, sut.guid, TRANSACTIONAL_DEAD_LETTER_SUFFIX),
            (FormatType.CONNECTOR, sut.guid, TRANSACTIONAL_DEAD_LETTER_SUFFIX),
        ],
        "MQMQ-2.2.7-10": [(FormatType.DIRECT, plain_queue_direct_name, Suffix.XACTONLY)],
        "MQMQ-2.2.7-12": [
            (FormatType.DIRECT, plain_queue_direct_name, Suffix.SUBQUEUE),
            (FormatType.MACHINE, sut.guid, Suffix.SUBQUEUE),
        ],
        "MQMQ-2.2.7-D02": [
            (FormatType.MACHINE, UNKNOWN_QUEUE_MANAGER_GUID, one)
            for one in (JOURNAL_SUFFIX, DEAD_LETTER_SUFFIX, TRANSACTIONAL_DEAD_LETTER_SUFFIX)
        ],
    }
    _judge_refusals_of_wrong_queue_formats(judge, queue_label_reader, plain_queue_direct_name, ways)


@needs("qm2qm", "queues")
@covers(
    "MQMQ-2.2.7-02",
    "MQMQ-2.2.7-04",
    "MQMQ-2.2.7-07",
    "MQMQ-2.2.7-09",
    "MQMQ-2.2.7-10",
    "MQMQ-2.2.7-12",
    "MQMQ-2.2.7-15",
)
def test_private_queue_is_not_described_by_wrong_format(queue_label_reader, plain_queue_direct_name, sut, judge):
    """The SUT describes a queue by its direct name. It does not describe a queue by an OBJECTID with wrong Flags, with
    a suffix that its type does not allow, or with a wrong Lineage or Uniquifier.
    """
    number = int(sut.private_format_name(sut.new_queue("described", journaling=True)).rpartition("\\")[2], 16)
    suffixes = {
        "MQMQ-2.2.7-02": (SYSTEM_QUEUE_SUFFIX,),
        "MQMQ-2.2.7-04": (Suffix.JOURNAL,),
        "MQMQ-2.2.7-07": (DEAD_LETTER_SUFFIX, Suffix.DEADLETTER),
        "MQMQ-2.2.7-09": (TRANSACTIONAL_DEAD_LETTER_SUFFIX, Suffix.DEADXACT),
        "MQMQ-2.2.7-10": (Suffix.XACTONLY, SYSTEM_QUEUE_SUFFIX | Suffix.XACTONLY),
        "MQMQ-2.2.7-12": (Suffix.SUBQUEUE, SYSTEM_QUEUE_SUFFIX | Suffix.SUBQUEUE),
    }
    ways = {
        rule: [(FormatType.PRIVATE, (sut.guid, number), suffix) for suffix in wrong] for rule, wrong in suffixes.items()
    }
    ways["MQMQ-2.2.7-15"] = [
        (FormatType.PRIVATE, objectid, 0)
        for objectid in (
            (UNKNOWN_QUEUE_MANAGER_GUID, number),
            (sut.guid, number ^ 0x0001_0000),
            (sut.guid, 0xFFF0_0000),
        )
    ]
    _judge_refusals_of_wrong_queue_formats(judge, queue_label_reader, plain_queue_direct_name, ways)


@needs("qm2qm", "queue_control", "subqueues")
@covers("MQMQ-2.2.7-11", "MQMQ-2.2.7-12", "MQMQ-2.2.7-16")
def test_subqueue_is_not_described_by_wrong_format(queue_label_reader, plain_queue_direct_name, sut, judge):
    """The SUT describes a queue by its direct name. It does not describe a subqueue by a format with Flags 0x80, with
    type DIRECT, or without the name of the subqueue.
    """
    sut.create_queue(f"{sut.queue()};mqc-sub")
    name = f"{plain_queue_direct_name};mqc-sub"
    ways = {
        "MQMQ-2.2.7-11": [(FormatType.SUBQUEUE, name, SYSTEM_QUEUE_SUFFIX | Suffix.SUBQUEUE)],
        "MQMQ-2.2.7-12": [(FormatType.DIRECT, one, Suffix.SUBQUEUE) for one in (name, f"{plain_queue_direct_name};")],
        "MQMQ-2.2.7-16": [
            (FormatType.SUBQUEUE, one, Suffix.SUBQUEUE)
            for one in (plain_queue_direct_name, "no direct name;mqc-sub", f"{plain_queue_direct_name};")
        ],
    }
    _judge_refusals_of_wrong_queue_formats(judge, queue_label_reader, plain_queue_direct_name, ways)
