"""MS-MQDMPR 3.1.1.12 Message: the acknowledgments that AcknowledgementsRequested enables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, none
from harness.expectations.protocol import get_class_name
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    BAD_DST_Q,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    Q_DELETED,
    Q_EXCEED_QUOTA,
    Q_PURGED,
    REACH_QUEUE,
    RECEIVE,
    RECEIVE_TIMEOUT,
    AcknowledgingReceiver,
    get_correlation_id,
    get_message_class,
    identifier,
)

RULE_BY_ACK_REQUEST_BIT = {
    "PA": "MQMQ-2.2.19.3-01",
    "PR": "MQMQ-2.2.19.3-02",
    "NA": "MQMQ-2.2.19.3-03",
    "NR": "MQMQ-2.2.19.3-04",
}
"""The bits that request an acknowledgment, with their rules."""


RULES_BY_ACK_REQUEST_BITS = {
    "PA": ("MQDMPR-3.1.1.12-38",),
    "PA again": ("MQDMPR-3.1.1.12-38",),
    "PR": ("MQDMPR-3.1.1.12-39",),
    "PR again": ("MQDMPR-3.1.1.12-39",),
    "NA": ("MQDMPR-3.1.1.12-40", "MQDMPR-3.1.1.12-D50"),
    "NA again": ("MQDMPR-3.1.1.12-40", "MQDMPR-3.1.1.12-D50"),
    "NR": ("MQDMPR-3.1.1.12-41",),
    "NR again": ("MQDMPR-3.1.1.12-41",),
    "PA+NA": ("MQDMPR-3.1.1.12-42",),
    "NA+NR": ("MQDMPR-3.1.1.12-43",),
    "PR+NA+NR": ("MQDMPR-3.1.1.12-44",),
}
"""For each value of AcknowledgementsRequested that MS-MQDMPR 3.1.1.12 defines: the bits of the value, and the rules
about the value. A message with a value "again" has a large body.
"""
LABEL_PART_OF_REPEATED_ACK_REQUESTS, LARGE_BODY = "again", bytes(range(256)) * 240


ACK_REQUEST_RULES = ("MQDMPR-3.1.1.12-35", "MQDMPR-3.1.1.12-36")
NO_ACK_REQUEST_RULE = "MQDMPR-3.1.1.12-37"


ALL_ACK_REQUEST_RULES = (
    *ACK_REQUEST_RULES,
    NO_ACK_REQUEST_RULE,
    *(rule for rules in RULES_BY_ACK_REQUEST_BITS.values() for rule in rules),
)


NO_ACK_REQUEST_BITS_CASE = "no bits"
UNUSED_ACK_REQUEST_BITS = ("X4", "X5", "X6", "X7")
FURTHER_ACK_REQUEST_BIT_COMBINATIONS = ("PA+NR", "PR+NA", "PA+PR+NA+NR", "PA+PR+NA+NR+X4+X5+X6+X7", "X4+X5+X6+X7")
ACK_REQUEST_BIT_CASES = (NO_ACK_REQUEST_BITS_CASE, *RULES_BY_ACK_REQUEST_BITS, *FURTHER_ACK_REQUEST_BIT_COMBINATIONS)
"""The bits of each message: no bits, the bits of one value of AcknowledgementsRequested, another combination of bits
that request an acknowledgment, all these bits, all bits of the field, or only unused bits.
"""


ACK_CLASS_RULE_BY_MESSAGE_DISPOSITION = {
    "arrived": "MQDMPR-3.1.1.12-D07",
    "received": "MQDMPR-3.1.1.12-D09",
    "excessive": "MQDMPR-3.1.1.12-D13",
    "without a queue": "MQDMPR-3.1.1.12-D10",
    "deleted": "MQDMPR-3.1.1.12-D23",
    "purged": "MQDMPR-3.1.1.12-D24",
    "expired": "MQDMPR-3.1.1.12-D25",
}
"""For each outcome of a message: the rule about the class of the message's acknowledgment."""
REFUSAL_RULE_BY_TRANSACTIONALITY = {True: "MQDMPR-3.1.1.12-D19", False: "MQDMPR-3.1.1.12-D20"}
"""The rule about the class of the acknowledgment of a refused message: of a transactional message (True) and of a
nontransactional message (False).
"""
ALL_ACK_CLASS_RULES = (*ACK_CLASS_RULE_BY_MESSAGE_DISPOSITION.values(), *REFUSAL_RULE_BY_TRANSACTIONALITY.values())


ACK_CORRELATION_IDENTIFIER_RULE = "MQMQ-2.2.19.3-14"


SHORT_LIFETIME_S = 3
MISSING_QUEUE_NAME = r"private$\mqc-missing"
LONG_READ_TIMEOUT_MS = 60_000


class MessageDispositionCase(NamedTuple):
    """A case in which all messages have the same outcome: whether their queue accepts them, their fields, the action
    that causes the outcome, the class of the acknowledgment for each bit, and the action before the messages are sent.
    """

    accepted: bool
    user: dict[str, int]
    cause_message_disposition: Callable[[Any, Any, str], None]
    ack_class_by_request_bit: dict[str, int]
    prepare_before_sending: Callable[[Any, Any, str], None] | None = None
    queue: Mapping[str, int] | None = None
    """The properties of a queue that only these messages use; None for a queue of the SUT file."""


def _begin_to_receive_all_messages(peer, sut, kind):
    """Begin a receive for each message before the messages are sent."""
    for _ in ACK_REQUEST_BIT_CASES:
        sut.control.begin("receive", queue=sut.queue(kind), timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()


def _leave_messages_in_queue(peer, sut, kind):
    """Leave the messages in their queue."""


def _receive_all_messages(peer, sut, kind):
    _await_all_messages_in_queue(peer, sut, kind)
    while sut.control.call("receive", queue=sut.queue(kind), timeout_ms=0)["message"] is not None:
        pass


def _purge_queue_after_messages_arrive(peer, sut, kind):
    _await_all_messages_in_queue(peer, sut, kind)
    sut.control.call("purge", queue=sut.queue(kind))


def _await_all_messages_in_queue(peer, sut, kind):
    if not peer.eventually(lambda: len(sut.messages(kind)) >= len(ACK_REQUEST_BIT_CASES)):
        raise ConformanceFailure("the messages did not arrive in their queue")


def _delete_queue(peer, sut, queue):
    if not peer.eventually(lambda: len(sut.labels(queue)) >= len(ACK_REQUEST_BIT_CASES)):
        raise ConformanceFailure("the messages did not arrive in their queue")
    sut.delete_queue(queue)


def _enable_insecure_nacks(peer, sut, kind):
    """Let the SUT also send the acknowledgments that reveal to any sender which queues exist (SendInsecureNacks)."""
    sut.enable_insecure_nacks()


def _wait_until_messages_expire(peer, sut, kind):
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)


ARRIVAL_ACK_CLASS = {"PA": REACH_QUEUE}


CASE_BY_MESSAGE_DISPOSITION = {
    "arrived": MessageDispositionCase(True, {}, _leave_messages_in_queue, ARRIVAL_ACK_CLASS),
    "received": MessageDispositionCase(True, {}, _receive_all_messages, ARRIVAL_ACK_CLASS | {"PR": RECEIVE}),
    "received by waiting reads": MessageDispositionCase(
        True, {}, _leave_messages_in_queue, ARRIVAL_ACK_CLASS | {"PR": RECEIVE}, _begin_to_receive_all_messages
    ),
    "purged": MessageDispositionCase(
        True, {}, _purge_queue_after_messages_arrive, ARRIVAL_ACK_CLASS | {"NR": Q_PURGED}
    ),
    "expired": MessageDispositionCase(
        True,
        {"TimeToBeReceived": SHORT_LIFETIME_S},
        _wait_until_messages_expire,
        ARRIVAL_ACK_CLASS | {"NR": RECEIVE_TIMEOUT},
    ),
    "refused": MessageDispositionCase(False, {}, _leave_messages_in_queue, {}),
    "excessive": MessageDispositionCase(
        True, {}, _leave_messages_in_queue, {"NA": Q_EXCEED_QUOTA}, None, {"quota_kb": 0}
    ),
    "without a queue": MessageDispositionCase(
        True, {}, _leave_messages_in_queue, {"NA": BAD_DST_Q}, _enable_insecure_nacks
    ),
    "deleted": MessageDispositionCase(True, {}, _delete_queue, ARRIVAL_ACK_CLASS | {"NR": Q_DELETED}, None, {}),
}


NEEDED_FACILITIES_BY_MESSAGE_DISPOSITION = {
    "received": (needs("receive"),),
    "received by waiting reads": (needs("receive"),),
    "purged": (needs("receive"),),
    "excessive": (needs("queues"),),
    "without a queue": (needs("insecure_nacks"),),
    "deleted": (needs("receive", "queue_control"),),
}


def _format_ack_classes_by_bits(classes_by_bits):
    """Return one text with the classes of the acknowledgments for each combination of bits."""
    return {bits: " and ".join(classes) or "no acknowledgment" for bits, classes in classes_by_bits.items()}


@covers(
    *RULE_BY_ACK_REQUEST_BIT.values(),
    ACK_CORRELATION_IDENTIFIER_RULE,
    *ALL_ACK_REQUEST_RULES,
    *ALL_ACK_CLASS_RULES,
    "MQDMPR-3.1.1.12-D51",
)
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(end, marks=NEEDED_FACILITIES_BY_MESSAGE_DISPOSITION.get(end, ()))
        for end in CASE_BY_MESSAGE_DISPOSITION
    ],
)
def test_acknowledgment_bit_enables_only_its_acknowledgment(peer, sut, judge, end, delivery):
    """Messages arrive with each combination of PA, PR, NA and NR; some of them have unused bits set. They arrive in
    their queue, are received, are purged, expire, are refused, exceed the quota, have no queue, or are deleted with
    their queue. Each message is acknowledged with the class of its outcome only if its bits request that
    acknowledgment.
    """
    disposition = CASE_BY_MESSAGE_DISPOSITION[end]
    receiver = AcknowledgingReceiver(peer, sut)
    is_transactional = delivery == "transactional"
    kind = "transactional" if is_transactional is disposition.accepted else "plain"
    refusal = NOT_TRANSACTIONAL_Q if is_transactional else NOT_TRANSACTIONAL_MSG
    classes = disposition.ack_class_by_request_bit if disposition.accepted else {"NA": refusal}
    make = receiver.sequence.message if is_transactional else peer.message
    where: dict[str, Any] = {"queue": kind}
    if disposition.queue is not None:
        kind = sut.new_queue("disposed", transactional=is_transactional, **disposition.queue)
        where = {"destination": rf"TCP:{sut.address}\{kind}"}
    if end == "without a queue":
        where = {"destination": rf"TCP:{sut.address}\{MISSING_QUEUE_NAME}"}
    if disposition.prepare_before_sending is not None:
        disposition.prepare_before_sending(peer, sut, kind)
    frames = {}
    for number, requested in enumerate(ACK_REQUEST_BIT_CASES, 1):
        if (
            end in ("excessive", "late", "without a queue") and is_transactional
        ):  # it does not advance its sequence (E40)
            make = Sequence(peer, ordinal=number).message
        bits = {bit: 1 for bit in (*RULE_BY_ACK_REQUEST_BIT, *UNUSED_ACK_REQUEST_BITS) if bit in requested}
        user = {"DM": int(delivery != "express"), **disposition.user}
        body: dict[str, Any] = {"body": LARGE_BODY} if LABEL_PART_OF_REPEATED_ACK_REQUESTS in requested else {}
        packet = make(receiver.add_admin_queue_fields(user), properties=bits, **where, **body)
        frames[requested] = receiver.send_packet(packet)
    receiver.session.require_session_ack_for_message()
    disposition.cause_message_disposition(peer, sut, kind)
    expected = {
        requested: sorted(get_class_name(value) for bit, value in classes.items() if bit in requested)
        for requested in ACK_REQUEST_BIT_CASES
    }
    acks = receiver.await_acks(sum(map(len, expected.values())))
    classes_by_bits = {
        requested: sorted(
            get_class_name(get_message_class(ack)) for ack in acks if get_correlation_id(ack) == identifier(frame)
        )
        for requested, frame in frames.items()
    }
    evidence = [*frames.values(), *acks]
    case = f"acknowledgments of the messages ({end}), by the bits set"
    for bit, rule in RULE_BY_ACK_REQUEST_BIT.items():
        with_bit = {
            requested: values
            for requested, values in expected.items()
            if bit in requested or requested == NO_ACK_REQUEST_BITS_CASE
        }
        observed = {requested: classes_by_bits[requested] for requested in with_bit}
        judge(
            rule,
            expected=_format_ack_classes_by_bits(with_bit),
            observed=_format_ack_classes_by_bits(observed),
            case=case,
            evidence=evidence,
        )
    for requested, rules in {NO_ACK_REQUEST_BITS_CASE: (NO_ACK_REQUEST_RULE,), **RULES_BY_ACK_REQUEST_BITS}.items():
        if not acks and not expected[requested]:
            judge.mark_not_exercised(*rules, reason=f"the SUT sent no acknowledgment of the messages ({end})")
            continue
        judge(
            *rules,
            expected=_format_ack_classes_by_bits(expected)[requested],
            observed=_format_ack_classes_by_bits(classes_by_bits)[requested],
            case=f"acknowledgment of the {end} message with {requested}",
            evidence=evidence,
        )
    class_rule = (
        REFUSAL_RULE_BY_TRANSACTIONALITY[is_transactional]
        if end == "refused"
        else ACK_CLASS_RULE_BY_MESSAGE_DISPOSITION.get(end)
    )
    others = [rule for rule in ALL_ACK_CLASS_RULES if rule != class_rule]
    judge.mark_not_exercised(*others, reason=f"all messages were {end}")
    if class_rule is not None:
        every = "PA+PR+NA+NR"
        judge(
            class_rule,
            expected=_format_ack_classes_by_bits(expected)[every],
            observed=_format_ack_classes_by_bits(classes_by_bits)[every],
            case=f"acknowledgments of the {end} message with all requests",
            evidence=evidence,
        )
    judge(
        *ACK_REQUEST_RULES,
        expected=_format_ack_classes_by_bits(expected),
        observed=_format_ack_classes_by_bits(classes_by_bits),
        case=case,
        evidence=evidence,
    )
    identifiers = {identifier(frame) for frame in frames.values()}
    strange = [get_correlation_id(ack) for ack in acks if get_correlation_id(ack) not in identifiers]
    judge(
        ACK_CORRELATION_IDENTIFIER_RULE,
        expected={
            "number_of_acknowledgments": sum(map(len, expected.values())),
            "other_acknowledgments": none("acknowledgment of a different message"),
        },
        observed={
            "number_of_acknowledgments": sum(map(len, classes_by_bits.values())),
            "other_acknowledgments": strange,
        },
        evidence=evidence,
    )
    if acks:
        sources = [str(ack["UserHeader"].SourceQueueManager) for ack in acks]
        judge(
            "MQDMPR-3.1.1.12-D51", expected=each(str(sut.guid), "SourceQueueManager"), observed=sources, evidence=acks
        )
    else:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D51", reason="the SUT sent no acknowledgment")
    receiver.acknowledge_all()
