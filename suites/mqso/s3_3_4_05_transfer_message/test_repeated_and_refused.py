"""MS-MQSO 3.3.4.5, 4.3.1.2: repeated transfers of transactional messages, duplicates from several sources, and each
cause of a refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.expectations import each, facts, in_queue, none
from harness.run.marks import covers, malforms, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    AcknowledgingReceiver,
    get_correlation_id,
    get_final_ack_identifier,
    get_message_class,
    identifier,
)
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import read_acknowledged_sequence_position
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut

NEGATIVE_CLASS_BIT = 0x8000
"""The bit of MessageClass that is set in negative acknowledgments (MS-MQMQ 2.2.18.1.6)."""
REPETITION_ROUND_COUNT = 3
INTERVENING_MESSAGE_COUNT = 8
"""The number of other messages that arrive between a message and its repetition."""


@needs("send", "queue_control")
@covers("MQSO-3.3.4.5-D04", "MQSO-4.3.1.2-D03", "MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04")
def test_transactional_messages_are_repeated_until_their_order_acks(peer, sut, judge):
    """A SessionAck acknowledges three transactional messages from the SUT. The SUT nevertheless sends all three again,
    three times, and keeps them in its outgoing queue. The OrderAck of the second message removes the first two
    messages. From then on, the SUT repeats only the third message, until the OrderAck of that message removes it.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-until-order-ack")
    sent = outgoing.send(3)
    frames = [outgoing.send_session_ack()]

    def count_outgoing_messages() -> int:
        return sut.outgoing_queue(outgoing.to)["count"]

    def await_next_repetition() -> dict[int, bool]:
        """Wait for the next repetition by the SUT; return, for each message number, whether that
        message was repeated.
        """
        known = {number: len(outgoing.copies(number)) for number in (1, 2, 3)}
        outgoing.await_resend(3)
        peer.settle()
        frames.append(outgoing.send_session_ack())
        return {number: len(outgoing.copies(number)) > known[number] for number in known}

    rounds = [await_next_repetition() for _ in range(REPETITION_ROUND_COUNT)]
    evidence = [*sent, *outgoing.copies(3)]
    judge(
        "MQSO-3.3.4.5-D04",
        "MQSO-4.3.1.2-D03",
        expected=each(facts(**{f"message_{number}": True for number in (1, 2, 3)}), "repetition"),
        observed=[{f"message_{number}": one[number] for number in one} for one in rounds],
        evidence=evidence,
    )
    counts = [count_outgoing_messages()]
    frames.append(outgoing.send_order_ack(2))
    peer.eventually(lambda: count_outgoing_messages() <= 1)
    counts.append(count_outgoing_messages())
    later = await_next_repetition()
    frames.append(outgoing.send_order_ack(3))
    peer.eventually(lambda: count_outgoing_messages() == 0)
    counts.append(count_outgoing_messages())
    judge(
        "MQSO-4.3.1.2-D05",
        "MQSO-5.1.1.3-D04",
        expected=[3, 1, 0],
        observed=counts,
        evidence=[*evidence, *frames],
        case="number of messages in the outgoing queue before and after each OrderAck",
    )
    judge(
        "MQSO-3.3.4.5-D04",
        "MQSO-4.3.1.2-D03",
        expected={1: False, 2: False, 3: True},
        observed=later,
        evidence=[*evidence, *frames],
        case="messages that are repeated after the OrderAck of the second",
    )
    known = len(outgoing.copies(3))
    again = outgoing.await_resend(3) == RESENT_OUTCOME
    judge(
        "MQSO-3.3.4.5-D04",
        expected=facts(repeated=False, copies=known),
        observed={"repeated": again, "copies": len(outgoing.copies(3))},
        evidence=[*evidence, *frames],
        case="after the last OrderAck",
    )


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("receive")
@covers("MQSO-3.3.4.5-D01")
def test_duplicates_are_recognized_by_source_and_number(peer, sut, judge):
    """The SUT stores an express and a recoverable message. When the messages are repeated on another session, the SUT
    discards them, even after an application has received the stored messages. Messages from another source have the
    same numbers and also arrive twice; the SUT stores none of them twice.
    """
    queue = sut.new_queue("repeated")
    destination = rf"TCP:{sut.address}\{queue}"
    kinds: dict[str, Callable[..., Any]] = {"express": peer.message, "recoverable": peer.recoverable_message}
    numbers = {kind: peer.next_message_id() for kind in kinds}

    def build_messages_of_source(source: str) -> list[Any]:
        user = {} if source == "peer" else {"SourceQueueManager": OTHER_GUID}
        return [
            make({"MessageID": numbers[kind], **user}, label=f"{kind} of {source}", destination=destination)
            for kind, make in kinds.items()
        ]

    first = build_messages_of_source("peer")
    labels = ["express of peer", "recoverable of peer"]
    session = peer.open_raw()
    sent = [session.send(one) for one in first]
    peer.eventually(lambda: len(sut.labels(queue)) == len(first))
    session = peer.open_raw()
    sent += [session.send(one) for one in first]
    session.require_session_ack_for_message()
    peer.settle()
    judge.all(expected=in_queue(*labels), observed=sut.labels(queue), evidence=sent)
    for _ in first:
        sut.control.call("receive", queue=queue, timeout_ms=0)
    sent += [session.send(peer.message(label=f"between {number}")) for number in range(INTERVENING_MESSAGE_COUNT)]
    peer.settle()
    sent += [session.send(one) for one in first]
    session.require_session_ack_for_message()
    peer.settle()
    judge.all(expected=in_queue(), observed=sut.labels(queue), evidence=sent, case="after the messages were received")
    others = [one for one in build_messages_of_source("other") for _ in range(2)]
    sent += [session.send(one) for one in others]
    session.require_session_ack_for_message()
    peer.settle()
    labels = sut.labels(queue)
    repeated = [label for label in set(labels) if labels.count(label) > 1]
    judge.all(expected=none("message of another source that is stored twice"), observed=repeated, evidence=sent)


REFUSAL_CAUSES = ("transactional to a missing queue", "plain to transactional", "transactional to plain", "over quota")


@needs("receive", "queue_control")
@covers("MQSO-3.3.4.5-D02")
@pytest.mark.parametrize("cause", REFUSAL_CAUSES)
def test_every_refused_message_is_answered_negatively(peer, sut, judge, cause):
    """The peer sends two messages that the SUT must refuse for the same cause, and an acceptable message between them;
    the check runs for each of four causes. The SUT sends a negative acknowledgment of both refused messages and stores
    neither. It stores the acceptable message and sends no negative acknowledgment of it.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue, small = sut.queue(), sut.new_queue("small", quota_kb=2)
    missing = f"{queue}-missing-{peer.next_message_id()}"
    headers: dict[str, Any] = {"label": "no", "properties": {"NA": 1}}

    def build_refused_message() -> Any:
        user = receiver.add_admin_queue_fields()
        if cause == "transactional to a missing queue":
            return receiver.sequence.message(user, destination=rf"TCP:{sut.address}\{missing}", **headers)
        if cause == "plain to transactional":
            return receiver.build_message(queue="transactional", **headers)
        if cause == "transactional to plain":
            return receiver.sequence.message(user, queue="plain", **headers)
        return receiver.build_message(destination=rf"TCP:{sut.address}\{small}", body=b"x" * 4_000, **headers)

    refused = [receiver.send_packet(build_refused_message())]
    accepted = receiver.send_packet(receiver.build_message(label="yes", properties={"NA": 1}))
    refused.append(receiver.send_packet(build_refused_message()))
    receiver.await_acks(len(refused))
    acks = [*receiver.list_admin_acks(), *receiver.list_final_acks()]
    answered = [
        get_final_ack_identifier(ack) if ack in receiver.list_final_acks() else get_correlation_id(ack)
        for ack in acks
        if get_message_class(ack) & NEGATIVE_CLASS_BIT
    ]
    peer.eventually(lambda: bool(sut.labels(queue)))
    observed = {
        "refused_messages_are_answered": [identifier(one) in answered for one in refused],
        "accepted_message_is_answered": identifier(accepted) in answered,
        "labels": [*sut.labels(queue), *sut.labels(small), *sut.labels(sut.queue("transactional"))],
    }
    expected = facts(refused_messages_are_answered=[True, True], accepted_message_is_answered=False, labels=["yes"])
    judge.all(expected=expected, observed=observed, evidence=[*refused, accepted, *acks])
    receiver.acknowledge_all()


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("receive", "queue_control")
@covers("MQSO-3.3.4.5-D03", "MQSO-4.3.1.2-D04")
def test_sequences_of_two_sources_on_one_session_are_acknowledged(peer, sut, judge):
    """On one session, two sources each send two transactional messages to different queues, between an express and a
    recoverable message. The SUT stores and acknowledges all six messages, and sends the OrderAck of each sequence.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queues = [sut.new_queue(f"sequence-{number}", transactional=True) for number in range(2)]
    sequences = [Sequence(peer, ordinal=number) for number in (1, 2)]
    sources = [peer.identifier, OTHER_GUID]
    sent = [receiver.send_packet(peer.message(label="express"))]
    for label in ("1", "2"):
        for sequence, source, queue in zip(sequences, sources, queues, strict=True):
            user = {"SourceQueueManager": source}
            where: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{queue}", "label": label}
            sent.append(receiver.send_packet(sequence.message(user, **where)))
    sent.append(receiver.send_packet(peer.recoverable_message(label="recoverable")))
    ack = receiver.session.await_session_ack(len(sent))
    peer.eventually(lambda: all(len(sut.labels(queue)) == 2 for queue in queues))

    def read_acknowledged_ordinals_and_numbers() -> set[tuple[int, int]]:
        places = [read_acknowledged_sequence_position(one) for one in receiver.list_acknowledgments()]
        return {(one.Ordinal, one.TxSequenceNumber) for one in places}

    wanted = {(sequence.identifier.Ordinal, 2) for sequence in sequences}
    while (
        not wanted <= read_acknowledged_ordinals_and_numbers()
        and receiver.poll(receiver.list_acknowledgments) is not None
    ):
        pass
    observed = {
        "SessionAck": None if ack is None else ack["SessionHeader"].AckSequenceNumber,
        "OrderAcks": wanted <= read_acknowledged_ordinals_and_numbers(),
        "labels": [sut.labels(queue) for queue in queues],
    }
    expected = facts(SessionAck=len(sent), OrderAcks=True, labels=[["1", "2"], ["1", "2"]])
    evidence = [*sent, *([] if ack is None else [ack]), *receiver.list_acknowledgments()]
    judge.all(expected=expected, observed=observed, evidence=evidence)
    receiver.acknowledge_all()
