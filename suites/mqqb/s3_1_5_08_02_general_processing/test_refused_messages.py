"""MS-MQQB 3.1.5.8.2 General Processing: messages that no queue here takes, and messages for other queue managers."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, goes_on, needs
from suites.messages import Sequence, a_message
from suites.mqqb.steps.disposition import (
    BAD_DST_Q,
    HOP_COUNT_EXCEEDED,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    NOWHERE,
    REACH_QUEUE,
    AcknowledgingReceiver,
    classes,
    correlation,
    identifier,
    named,
    private_queue,
)
from suites.mqqb.steps.opening import OneOf, opened, private_name
from suites.mqqb.steps.sender import Sender

UNKNOWN_NUMBER = 0x00FF_FF17
HIGHEST_RC, LAST_RC = 0x1F, 0x05
"""A count of hops with which no reading sends a message on (E29), and one with which every reading does."""
ROUTED_QUEUE = 1


@goes_on()
@covers("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")
@pytest.mark.parametrize("name", ["direct", "private"])
def test_a_message_to_a_queue_that_is_not_there_is_disregarded(peer, sut, judge, name):
    """A message to no queue and one to a queue ask for an acknowledgment of arrival: only the second one has it."""
    receiver = AcknowledgingReceiver(peer, sut)
    lost = {"DQ": 7} if name == "direct" else private_queue(sut.guid, UNKNOWN_NUMBER)
    destination = rf"TCP:{sut.address}\{NOWHERE}" if name == "direct" else None
    packet = receiver.asking(lost, destination=destination, properties={"PA": 1})
    sent = [receiver.give(packet), receiver.give(receiver.asking(properties={"PA": 1}))]
    came = [ack for ack in receiver.await_acks(1) if ack["MessagePropertiesHeader"].MessageClass == REACH_QUEUE]
    for rule in ("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23"):
        observed = [correlation(ack) for ack in came]
        judge(rule, expected=[identifier(sent[1])], observed=observed, evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.2-17")
@needs("configure")
def test_with_na_it_is_told_that_there_is_no_such_queue(peer, sut, judge):
    """With SendInsecureNacks, of two messages to no queue the one with NA is acknowledged as BAD_DST_Q."""
    sut.configure(send_insecure_nacks=True)
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = rf"TCP:{sut.address}\{NOWHERE}"
    sent = [receiver.give(receiver.asking(destination=nowhere, properties={"NA": wanted})) for wanted in (0, 1)]
    came = receiver.await_acks(1)
    judge("MQQB-3.1.5.8.2-17", expected=named(BAD_DST_Q), observed=classes(came), evidence=[*sent, *came])


@covers("MQQB-3.1.5.8.2-20")
def test_a_transactional_message_to_no_queue_gets_a_final_ack(peer, sut, judge):
    """The FinalAck says BAD_DST_Q, asked for or not."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.send(destination=rf"TCP:{sut.address}\{NOWHERE}")
    acks = receiver.await_all(receiver.final_acks, 1)
    judge("MQQB-3.1.5.8.2-20", expected=named(BAD_DST_Q), observed=classes(acks), evidence=[sent, *acks])
    receiver.end()


@goes_on()
@covers("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-26", "MQQB-3.1.5.8.2-29", "MQQB-3.1.5.8.2-32")
def test_a_transactional_message_does_not_get_into_another_queue(peer, sut, judge):
    """Two transactional messages for a queue that is not ask for an acknowledgment of arrival, the second with NA."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [
        receiver.send(receiver.administered(), queue="plain", properties={"PA": 1, "NA": wanted}) for wanted in (0, 1)
    ]
    acks, finals = receiver.await_acks(1), receiver.await_all(receiver.final_acks, 2)
    evidence = [*sent, *acks, *finals]
    arrived = [one for one in classes(acks) if one in named(REACH_QUEUE)]
    judge(
        "MQQB-3.1.5.8.2-26",
        expected=[identifier(sent[1])],
        observed=[correlation(ack) for ack in acks],
        evidence=evidence,
    )
    judge("MQQB-3.1.5.8.2-26", expected=named(NOT_TRANSACTIONAL_Q), observed=classes(acks), evidence=evidence)
    judge("MQQB-3.1.5.8.2-29", expected=named(NOT_TRANSACTIONAL_Q) * 2, observed=classes(finals), evidence=evidence)
    evidence.append(receiver.shown_to_receive())
    for rule in ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"):
        judge(rule, expected="none arrived", observed=f"{arrived or 'none'} arrived", evidence=evidence)
    receiver.end()


@goes_on()
@covers("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-34", "MQQB-3.1.5.8.2-37")
def test_a_message_without_transaction_does_not_get_into_a_transactional_queue(peer, sut, judge):
    """Two messages without transaction for a transactional queue ask for an acknowledgment of arrival, one with NA."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [
        receiver.give(receiver.asking(queue="transactional", properties={"PA": 1, "NA": wanted})) for wanted in (0, 1)
    ]
    acks = receiver.await_acks(1)
    arrived = [one for one in classes(acks) if one in named(REACH_QUEUE)]
    judge("MQQB-3.1.5.8.2-34", expected=named(NOT_TRANSACTIONAL_MSG), observed=classes(acks), evidence=[*sent, *acks])
    evidence = [*sent, *acks, receiver.shown_to_receive()]
    for rule in ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"):
        judge(rule, expected="none arrived", observed=f"{arrived or 'none'} arrived", evidence=evidence)


@covers("MQQB-3.1.5.8.2-38", "MQQB-3.1.5.8.2-39")
@needs("send", "private_names")
def test_a_message_for_another_queue_manager_has_one_hop_more(peer, sut, judge):
    """A message for the peer itself, which the SUT was given with some hops, comes back with one more."""
    sender = Sender(peer, sut, to=private_name(peer.identifier))
    sender.send(1)
    session, own = sender.first(1)
    target = private_queue(peer.identifier, ROUTED_QUEUE)
    packet = a_message(peer, target | {"RC": LAST_RC}, destination=None, ApplicationTag=2)
    sent = opened(peer).send(packet)
    came = [frame for frame in sender.collect(session, 2) if frame not in own]
    hops = [frame["UserHeader"].RC for frame in came]
    judge("MQQB-3.1.5.8.2-38", expected=1, observed=len(came), evidence=[sent, *came])
    judge("MQQB-3.1.5.8.2-39", expected=[LAST_RC + 1], observed=hops, evidence=[sent, *came])
    sender.acknowledge_all(session)


@goes_on()
@covers("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-41", "MQQB-3.1.5.8.2-44", "MQQB-3.1.5.8.2-47")
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "transactional"])
def test_a_message_with_too_many_hops_is_not_sent_on(peer, sut, judge, kind):
    """A message for the peer with the highest RC does not come back; with NA, and a transaction, it is acknowledged."""
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.administered(private_queue(peer.identifier, ROUTED_QUEUE) | {"RC": HIGHEST_RC})
    transactional = kind == "transactional"
    make = Sequence(peer).message if transactional else lambda user, **rest: a_message(peer, user, **rest)
    sent = [receiver.give(make(user, destination=None, properties={"NA": wanted})) for wanted in (0, 1)]
    acks, finals = receiver.await_acks(1), receiver.await_all(receiver.final_acks, 2 if transactional else 0)
    back = [frame for frame in receiver.messages if frame["UserHeader"].SourceQueueManager == peer.identifier]
    evidence = [*sent, *acks, *finals]
    for rule in ("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47"):
        judge(rule, expected="none", observed=f"{len(back) or 'none'}", evidence=[*evidence, *back])
    evidence.append(receiver.shown_to_receive())
    allowed = OneOf(str(named(HOP_COUNT_EXCEEDED)), "[]")
    judge("MQQB-3.1.5.8.2-41", expected=allowed, observed=str(classes(acks)), evidence=evidence)
    if transactional:
        allowed = OneOf(str(named(HOP_COUNT_EXCEEDED) * 2), "[]")
        judge("MQQB-3.1.5.8.2-44", expected=allowed, observed=str(classes(finals)), evidence=evidence)
    else:
        judge("MQQB-3.1.5.8.2-44", expected="[]", observed=str(classes(finals)), evidence=evidence)
    receiver.end()
