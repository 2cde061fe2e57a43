"""MS-MQDMPR 3.1.1.12 Message: the acknowledgments that AcknowledgementsRequested enables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import none
from harness.expectations.protocol import class_name
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import (
    NOT_TRANSACTIONAL_MSG,
    Q_PURGED,
    REACH_QUEUE,
    RECEIVE,
    RECEIVE_TIMEOUT,
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    message_class,
)

RULES_OF_BITS = {
    "PA": "MQMQ-2.2.19.3-01",
    "PR": "MQMQ-2.2.19.3-02",
    "NA": "MQMQ-2.2.19.3-03",
    "NR": "MQMQ-2.2.19.3-04",
}
"""The bits that request an acknowledgment, with their rules."""


RULES_BY_ACKNOWLEDGMENT_BIT = {
    "PA": ("MQDMPR-3.1.1.12-38",),
    "PR": ("MQDMPR-3.1.1.12-39",),
    "NA": ("MQDMPR-3.1.1.12-40", "MQDMPR-3.1.1.12-D50"),
    "NR": ("MQDMPR-3.1.1.12-41",),
    "PA+NA": ("MQDMPR-3.1.1.12-42",),
    "NA+NR": ("MQDMPR-3.1.1.12-43",),
    "PR+NA+NR": ("MQDMPR-3.1.1.12-44",),
}
"""The bits of each classification of AcknowledgementsRequested, with its rules."""


GENERAL_RULES = ("MQDMPR-3.1.1.12-35", "MQDMPR-3.1.1.12-36")


CLASSIFICATION_RULES = (*GENERAL_RULES, *(rule for rules in RULES_BY_ACKNOWLEDGMENT_BIT.values() for rule in rules))


NO_BITS = "no bits"
REQUESTED_BITS = (NO_BITS, *RULES_BY_ACKNOWLEDGMENT_BIT, "PA+PR+NA+NR")
"""The bits of each message: none, the bits of one classification, or all bits."""


CORRELATION_RULE = "MQMQ-2.2.19.3-14"


SHORT_LIFETIME_S = 3


class Disposition(NamedTuple):
    """An outcome of messages: the destination and fields of the messages, the action on them, and the acknowledgment
    class for each bit.
    """

    queue: str
    user: dict[str, int]
    act: Callable[[Any, Any], None]
    classes: dict[str, int]


def _leave_messages(peer, sut):
    """Leave the messages in their queue."""


def _receive_all(peer, sut):
    _await_all(peer, sut)
    while sut.control.call("receive", queue=sut.queue(), timeout_ms=0)["message"] is not None:
        pass


def _purge_queue(peer, sut):
    _await_all(peer, sut)
    sut.control.call("purge", queue=sut.queue())


def _await_all(peer, sut):
    if not peer.eventually(lambda: len(sut.messages()) >= len(REQUESTED_BITS)):
        raise ConformanceFailure("the messages did not arrive in their queue")


def _let_messages_expire(peer, sut):
    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)


ARRIVAL_ACK_CLASS = {"PA": REACH_QUEUE}


DISPOSITIONS = {
    "arrived": Disposition("plain", {}, _leave_messages, ARRIVAL_ACK_CLASS),
    "received": Disposition("plain", {}, _receive_all, ARRIVAL_ACK_CLASS | {"PR": RECEIVE}),
    "purged": Disposition("plain", {}, _purge_queue, ARRIVAL_ACK_CLASS | {"NR": Q_PURGED}),
    "expired": Disposition(
        "plain",
        {"TimeToBeReceived": SHORT_LIFETIME_S},
        _let_messages_expire,
        ARRIVAL_ACK_CLASS | {"NR": RECEIVE_TIMEOUT},
    ),
    "refused": Disposition("transactional", {}, _leave_messages, {"NA": NOT_TRANSACTIONAL_MSG}),
}


NEEDS_BY_DISPOSITION = {"received": (needs("receive"),), "purged": (needs("receive"),)}


def _join(classes_by_bits):
    """Return the classes of the acknowledgments for each combination of bits as one text."""
    return {bits: " and ".join(classes) or "no acknowledgment" for bits, classes in classes_by_bits.items()}


@covers(*RULES_OF_BITS.values(), CORRELATION_RULE, *CLASSIFICATION_RULES)
@pytest.mark.parametrize("delivery", [0, 1], ids=["express", "recoverable"])
@pytest.mark.parametrize("end", [pytest.param(end, marks=NEEDS_BY_DISPOSITION.get(end, ())) for end in DISPOSITIONS])
def test_acknowledgment_bit_enables_only_its_acknowledgment(peer, sut, judge, end, delivery):
    """Messages with each combination of PA, PR, NA and NR arrive, are received, are purged, expire or are refused; each
    message is acknowledged with the class of its outcome only if its bits request that acknowledgment.
    """
    disposition = DISPOSITIONS[end]
    receiver = AcknowledgingReceiver(peer, sut)
    frames = {}
    for requested in REQUESTED_BITS:
        bits = {bit: 1 for bit in RULES_OF_BITS if bit in requested}
        user = {"DM": delivery, **disposition.user}
        user = receiver.with_admin_queue(user) if bits else user
        packet = receiver.build_message(user, queue=disposition.queue, properties=bits)
        if not bits:
            packet["UserHeader"].AdminQueue = None
        frames[requested] = receiver.send_packet(packet)
    receiver.session.check_alive()
    disposition.act(peer, sut)
    expected = {
        requested: sorted(class_name(value) for bit, value in disposition.classes.items() if bit in requested)
        for requested in REQUESTED_BITS
    }
    acks = receiver.await_acks(sum(map(len, expected.values())))
    classes_by_bits = {
        requested: sorted(
            class_name(message_class(ack)) for ack in acks if get_correlation_id(ack) == identifier(frame)
        )
        for requested, frame in frames.items()
    }
    evidence = [*frames.values(), *acks]
    case = f"acknowledgments of {end} messages, by the bits set"
    for bit, rule in RULES_OF_BITS.items():
        with_bit = {
            requested: values for requested, values in expected.items() if bit in requested or requested == NO_BITS
        }
        observed = {requested: classes_by_bits[requested] for requested in with_bit}
        judge(rule, expected=_join(with_bit), observed=_join(observed), case=case, evidence=evidence)
    for requested, rules in RULES_BY_ACKNOWLEDGMENT_BIT.items():
        if not acks and not expected[requested]:
            judge.mark_not_exercised(*rules, reason=f"no acknowledgment reports this outcome of the messages ({end})")
            continue
        judge(
            *rules,
            expected=_join(expected)[requested],
            observed=_join(classes_by_bits)[requested],
            case=f"acknowledgment of the {end} message with {requested}",
            evidence=evidence,
        )
    judge(*GENERAL_RULES, expected=_join(expected), observed=_join(classes_by_bits), case=case, evidence=evidence)
    identifiers = {identifier(frame) for frame in frames.values()}
    strange = [get_correlation_id(ack) for ack in acks if get_correlation_id(ack) not in identifiers]
    judge(
        CORRELATION_RULE,
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
    receiver.acknowledge_all()
