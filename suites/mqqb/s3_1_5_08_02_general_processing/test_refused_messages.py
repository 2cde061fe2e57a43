"""MS-MQQB 3.1.5.8.2 General Processing: messages that the SUT refuses."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.expectations import acknowledged, acknowledgments_of_classes, facts, packets
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PublicQueueFormatName
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    IN_NO_QUEUE_OUTCOME,
    MISSING_QUEUE,
    AckClass,
    AcknowledgingReceiver,
    QueueType,
    find_queues_with_message,
    get_correlation_id,
    identifier,
    private_queue,
)
from suites.mqqb.steps.ordering import get_private_queue_number

LARGE_BODY_BYTES = 5_000
UNKNOWN_PRIVATE_QUEUE_NUMBER = 0x00FF_FF17
UNKNOWN_PUBLIC_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ee")
"""A queue number and a GUID that no queue has."""
JOURNALING_REQUEST_FIELDS = {"JN": 1, "JP": 1}
"""Fields of UserHeader that request journaling: the receiver does not journal a refused message."""
DIRECT_AND_PRIVATE_NAME_PARAMETERS = pytest.mark.parametrize(
    "name", ["direct", pytest.param("private", marks=needs("queue_control"))]
)
"""The parameter ``name``: the kind of name (direct or private) by which a message names a queue of the SUT."""


def _build_destination_arguments(sut: Sut, name: str, kind: str) -> dict[str, Any]:
    """Return the arguments of a message, except fields of UserHeader, that name a queue of the SUT."""
    return {"queue": kind} if name == "direct" else {"queue": kind, "destination": None}


def _build_destination_fields(sut: Sut, name: str, kind: str) -> dict[str, Any]:
    """Return the fields of UserHeader that name a queue of the SUT."""
    return {} if name == "direct" else private_queue(sut.guid, get_private_queue_number(sut, sut.queue(kind)))


def _build_tracing_headers(sut: Sut) -> dict[str, Any]:
    """Return the headers that request a report of arrival, if the SUT knows the report queue."""
    return {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}} if sut.has("public_names") else {}


def _open_report_session(receiver: AcknowledgingReceiver) -> list[Frame]:
    """Let the SUT report the arrival of a message, so that its session for reports is open; return the reports, or no
    reports if the SUT does not know the report queue.

    The report session must be open before the check begins. If the SUT opens two sessions at the same time, one of them
    is late, because only the response to the later Ping Request counts (3.1.7.8).
    """
    if not _build_tracing_headers(receiver.sut):
        return []
    receiver.send_packet(receiver.build_message(**_build_tracing_headers(receiver.sut)))
    return receiver.await_messages_of_sut(receiver.list_reports, 1)


@sut_survives()
@covers("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")
@pytest.mark.parametrize("name", ["direct", "private", "public", pytest.param("deleted", marks=needs("queue_control"))])
def test_message_to_a_missing_queue_is_discarded(peer, sut, judge, name):
    """The peer sends express, recoverable and transactional messages to a missing queue. The SUT acknowledges, reports
    and stores none of them.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{MISSING_QUEUE}" if name == "direct" else None
    if name == "deleted":
        queue = sut.new_queue("deleted")
        sut.create_queue(f"{queue}-longer")
        sut.delete_queue(queue)
        destination = rf"TCP:{sut.address}\{queue}"
    public = {
        "DQ": QueueType.PUBLIC,
        "QueueManagerAddress": sut.guid,
        "DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=UNKNOWN_PUBLIC_QUEUE_GUID),
    }
    missing = {"private": private_queue(sut.guid, UNKNOWN_PRIVATE_QUEUE_NUMBER), "public": public}.get(
        name, {"DQ": QueueType.DIRECT}
    ) | JOURNALING_REQUEST_FIELDS
    rest = {"destination": destination, "properties": {"PA": 1}, **_build_tracing_headers(sut)}
    known = _open_report_session(receiver)
    sent = [
        receiver.send_packet(receiver.build_message(missing | {"DM": recoverable}, **rest)) for recoverable in (0, 1)
    ]
    sent.append(receiver.send(receiver.add_admin_queue_fields(missing), **rest))
    sent.append(receiver.send_packet(receiver.build_message(properties={"PA": 1})))
    came = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), 1)
    rules = ("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")
    _judge_only_last_message_arrived(receiver, judge, rules, sent, [*sent, *came], known, "MQQB-3.1.5.8.2-15")
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10")
@needs("insecure_nacks")
def test_message_with_na_to_a_missing_queue_is_nacked(peer, sut, judge):
    """SendInsecureNacks is TRUE, and the peer sends messages to missing queues. The SUT sends acknowledgments of class
    BAD_DST_Q only for messages with NA.
    """
    sut.enable_insecure_nacks()
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = rf"TCP:{sut.address}\{MISSING_QUEUE}"
    sent = [
        receiver.send_packet(
            receiver.build_message({"DM": recoverable, "JN": recoverable}, destination=nowhere, properties={"NA": na})
        )
        for recoverable in (0, 1)
        for na in (0, 1)
    ]
    sent += [
        receiver.send(receiver.add_admin_queue_fields(), destination=nowhere, properties={"NA": one}) for one in (0, 1)
    ]
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    elsewhere = {"DQ": QueueType.PUBLIC, "QueueManagerAddress": sut.guid, "DestinationQueue": public}
    for missing in (elsewhere, private_queue(sut.guid, UNKNOWN_PRIVATE_QUEUE_NUMBER)):
        sent += [
            receiver.send_packet(receiver.build_message(missing, destination=None, properties={"NA": one}))
            for one in (0, 1)
        ]
    with_na = sent[1::2]
    came = receiver.await_acks(len(with_na))
    evidence = [*sent, *came]
    judge.all(
        expected=acknowledged(*with_na, of_class=AckClass.BAD_DST_Q),
        observed=came,
        evidence=evidence,
        case="acknowledgments",
    )
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-20")
@pytest.mark.parametrize("name", ["direct", "private"])
@varied("label", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_transactional_message_to_a_missing_queue_has_final_ack(peer, sut, judge, name):
    """The peer sends transactional messages with JN, JP or neither to a missing queue. The SUT sends FinalAcks of class
    BAD_DST_Q. The SUT sends no FinalAck for nontransactional messages.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = rf"TCP:{sut.address}\{MISSING_QUEUE}" if name == "direct" else None
    missing = {} if name == "direct" else private_queue(sut.guid, UNKNOWN_PRIVATE_QUEUE_NUMBER)
    sent = [
        receiver.send_packet(receiver.build_message(missing | {"DM": recoverable}, destination=nowhere))
        for recoverable in (0, 1)
    ]
    sent += [receiver.send(missing | journal, destination=nowhere) for journal in ({}, {"JN": 1}, {"JP": 1})]
    acks = receiver.await_messages_of_sut(receiver.list_final_acks, 3)
    judge.all(
        expected=acknowledgments_of_classes(*[AckClass.BAD_DST_Q] * 3),
        observed=acks,
        case="FinalAcks",
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()


@sut_survives()
@covers("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-26", "MQQB-3.1.5.8.2-29", "MQQB-3.1.5.8.2-32")
@DIRECT_AND_PRIVATE_NAME_PARAMETERS
def test_transactional_message_to_a_non_transactional_queue_is_refused(peer, sut, judge, name):
    """The peer sends three transactional messages, two of them with NA, to a nontransactional queue. The SUT refuses
    the messages. A transactional message to a transactional queue arrives.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user, rest = (
        receiver.add_admin_queue_fields(_build_destination_fields(sut, name, "plain")),
        _build_destination_arguments(sut, name, "plain") | _build_tracing_headers(sut),
    )
    known = _open_report_session(receiver)
    sent = [receiver.send(user | JOURNALING_REQUEST_FIELDS, properties={"PA": 1, "NA": na}, **rest) for na in (0, 1)]
    sent.append(receiver.send(user, properties={"NA": 1}, body=bytes(LARGE_BODY_BYTES), **rest))
    finals = receiver.await_messages_of_sut(receiver.list_final_acks, 3)
    receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.NOT_TRANSACTIONAL_Q, *sent), 2)
    sent.append(receiver.send_packet(_build_first_message_of_new_sequence(receiver, name, "transactional")))
    arrived = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), 1)
    acks = [ack for ack in receiver.list_admin_acks() if get_correlation_id(ack) in map(identifier, sent[:-1])]
    evidence = [*sent, *acks, *arrived, *finals]
    refused = acknowledged(sent[1], sent[2], of_class=AckClass.NOT_TRANSACTIONAL_Q)
    rejection = "MQQB-3.1.5.8.2-25"
    judge("MQQB-3.1.5.8.2-26", rejection, expected=refused, observed=acks, evidence=evidence, case="acknowledgments")
    refused_finally = acknowledgments_of_classes(*[AckClass.NOT_TRANSACTIONAL_Q] * 3)
    judge(
        "MQQB-3.1.5.8.2-29",
        rejection,
        expected=refused_finally,
        observed=finals,
        case="FinalAcks",
        evidence=evidence,
    )
    _judge_only_last_message_arrived(
        receiver, judge, ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"), sent, evidence, known
    )
    receiver.acknowledge_all()


@sut_survives()
@covers("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-34", "MQQB-3.1.5.8.2-37")
@DIRECT_AND_PRIVATE_NAME_PARAMETERS
def test_non_transactional_message_to_a_transactional_queue_is_refused(peer, sut, judge, name):
    """The peer sends nontransactional messages with and without NA, and of two priorities, to a transactional queue
    that has a message. The SUT refuses all of them. A message to a nontransactional queue arrives.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user, rest = (
        _build_destination_fields(sut, name, "transactional") | JOURNALING_REQUEST_FIELDS,
        _build_destination_arguments(sut, name, "transactional") | _build_tracing_headers(sut),
    )
    known = _open_report_session(receiver)
    first = receiver.send_packet(_build_first_message_of_new_sequence(receiver, name, "transactional"))
    receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, first), 1)
    sent = [
        receiver.send_packet(receiver.build_message(user | {"DM": recoverable}, properties={"PA": 1, "NA": na}, **rest))
        for recoverable in (0, 1)
        for na in (0, 1)
    ]
    rest["base"] = rest.get("base", {}) | {"PR": 0}
    sent.append(receiver.send_packet(receiver.build_message(user, properties={"NA": 1}, **rest)))
    receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.NOT_TRANSACTIONAL_MSG, *sent), 3)
    sent.append(receiver.send_packet(receiver.build_message(properties={"PA": 1})))
    arrived = receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), 1)
    acks = [ack for ack in receiver.list_admin_acks() if get_correlation_id(ack) in map(identifier, sent[:-1])]
    evidence = [*sent, *acks, *arrived]
    expected = acknowledged(sent[1], sent[3], sent[4], of_class=AckClass.NOT_TRANSACTIONAL_MSG)
    judge(
        "MQQB-3.1.5.8.2-33",
        "MQQB-3.1.5.8.2-34",
        expected=expected,
        observed=acks,
        evidence=evidence,
        case="acknowledgments",
    )
    _judge_only_last_message_arrived(receiver, judge, ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"), sent, evidence, known)


def _judge_only_last_message_arrived(receiver, judge, rules, sent, evidence, known, *disregarding):
    """Judge that only the last of the given messages arrived and is stored. For the last of ``rules``, and for the
    rules in ``disregarding``, also judge that the SUT sent a report only about this message.
    """
    arrived = receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent)
    reports = [report for report in receiver.list_reports() if report not in known]
    stored = find_queues_with_message(receiver.sut, sent[:-1], "plain", "admin", "transactional")
    *rejection, no_further_processing = rules
    expected, observed = (
        {"acknowledgments_of_arrival": acknowledged(sent[-1]), "earlier_messages": IN_NO_QUEUE_OUTCOME},
        {"acknowledgments_of_arrival": arrived, "earlier_messages": stored},
    )
    judge(*rejection, expected=facts(**expected), observed=observed, evidence=evidence)
    expected, observed = expected | {"reports": packets()}, observed | {"reports": reports}
    judge(
        no_further_processing,
        *disregarding,
        expected=facts(**expected),
        observed=observed,
        evidence=[*evidence, *reports],
    )


def _build_first_message_of_new_sequence(receiver, name, kind):
    """Make the first message of a new sequence, addressed to a queue that accepts the message."""
    user = receiver.add_admin_queue_fields(_build_destination_fields(receiver.sut, name, kind))
    rest = _build_destination_arguments(receiver.sut, name, kind)
    return Sequence(receiver.peer, ordinal=2).message(user, properties={"PA": 1}, **rest)
