"""MS-MQQB 3.1.5.8.2 General Processing: messages that no queue here takes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.expectations import acknowledged, facts, of_classes, packets
from harness.run.marks import covers, needs, sut_survives
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PublicQueueFormatName
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    BAD_DST_Q,
    DIRECT,
    IN_NONE,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    NOWHERE,
    PUBLIC,
    REACH_QUEUE,
    AcknowledgingReceiver,
    correlation,
    identifier,
    private_queue,
    remains,
)
from suites.mqqb.steps.ordering import private_number

UNKNOWN_NUMBER = 0x00FF_FF17
UNKNOWN_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ee")
"""The number and the GUID of no queue."""
KEPT = {"JN": 1, "JP": 1}
"""Fields of UserHeader that ask for journaling: what is refused here is journaled by nobody here."""
BY_NAME = pytest.mark.parametrize("name", ["direct", pytest.param("private", marks=needs("queue_control"))])
"""How a queue of the SUT is named in a message."""


def _addressed(sut: Sut, name: str, kind: str) -> dict[str, Any]:
    """Return the arguments of a message that name a queue of the SUT, besides fields of UserHeader."""
    return {"queue": kind} if name == "direct" else {"queue": kind, "destination": None}


def _user(sut: Sut, name: str, kind: str) -> dict[str, Any]:
    """Return the fields of UserHeader that name a queue of the SUT."""
    return {} if name == "direct" else private_queue(sut.guid, private_number(sut, sut.queue(kind)))


def _traced(sut: Sut) -> dict[str, Any]:
    """Return the headers of a message whose arrival would be reported, where the SUT knows the queue for that."""
    return {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}} if sut.has("public_names") else {}


def _reported(receiver: AcknowledgingReceiver) -> list[Frame]:
    """Have a message that arrives reported, where the SUT knows the queue for that; return the reports of it.

    The session for reports is there then. Set up beside the one for acknowledgments it would come late: of two Ping
    Requests only the later has a response that counts (3.1.7.8).
    """
    if not _traced(receiver.sut):
        return []
    receiver.give(receiver.asking(**_traced(receiver.sut)))
    return receiver.await_all(receiver.reports, 1)


@sut_survives()
@covers("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")
@pytest.mark.parametrize("name", ["direct", "private", "public", pytest.param("deleted", marks=needs("queue_control"))])
def test_a_message_to_a_queue_that_is_not_there_is_disregarded(peer, sut, judge, name):
    """Of messages to no queue, express, recoverable and transactional, nothing is acknowledged, reported or kept."""
    receiver = AcknowledgingReceiver(peer, sut)
    destination = rf"TCP:{sut.address}\{NOWHERE}" if name == "direct" else None
    if name == "deleted":
        queue = sut.new_queue("deleted")
        sut.delete_queue(queue)
        destination = rf"TCP:{sut.address}\{queue}"
    public = {
        "DQ": PUBLIC,
        "QueueManagerAddress": sut.guid,
        "DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=UNKNOWN_GUID),
    }
    lost = {"private": private_queue(sut.guid, UNKNOWN_NUMBER), "public": public}.get(name, {"DQ": DIRECT}) | KEPT
    rest = {"destination": destination, "properties": {"PA": 1}, **_traced(sut)}
    before = _reported(receiver)
    sent = [receiver.give(receiver.asking(lost | {"DM": recoverable}, **rest)) for recoverable in (0, 1)]
    sent.append(receiver.send(receiver.administered(lost), **rest))
    sent.append(receiver.give(receiver.asking(properties={"PA": 1})))
    came = receiver.await_all(lambda: receiver.acks_of(REACH_QUEUE, *sent), 1)
    reports = [report for report in receiver.reports() if report not in before]
    kept = remains(sut, sent[:-1], "plain", "admin", "transactional")
    expected = facts(arrived=acknowledged(sent[-1]), reported=packets(), kept=IN_NONE)
    observed = {"arrived": came, "reported": reports, "kept": kept}
    judge.all(expected=expected, observed=observed, evidence=[*sent, *came, *reports])
    receiver.end()


@covers("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10")
@needs("configure")
def test_with_na_it_is_told_that_there_is_no_such_queue(peer, sut, judge):
    """With SendInsecureNacks, of messages to no queue those with NA are acknowledged as BAD_DST_Q."""
    sut.configure(send_insecure_nacks=True)
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = rf"TCP:{sut.address}\{NOWHERE}"
    sent = [
        receiver.give(receiver.asking({"DM": recoverable}, destination=nowhere, properties={"NA": wanted}))
        for recoverable in (0, 1)
        for wanted in (0, 1)
    ]
    sent += [receiver.send(receiver.administered(), destination=nowhere, properties={"NA": one}) for one in (0, 1)]
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    elsewhere = {"DQ": PUBLIC, "QueueManagerAddress": sut.guid, "DestinationQueue": public}
    for lost in (elsewhere, private_queue(sut.guid, UNKNOWN_NUMBER)):
        sent += [receiver.give(receiver.asking(lost, destination=None, properties={"NA": one})) for one in (0, 1)]
    asked = sent[1::2]
    came = receiver.await_acks(len(asked))
    evidence = [*sent, *came]
    judge.all(expected=acknowledged(*asked, of_class=BAD_DST_Q), observed=came, evidence=evidence)
    receiver.end()


@covers("MQQB-3.1.5.8.2-20")
@pytest.mark.parametrize("name", ["direct", "private"])
def test_a_transactional_message_to_no_queue_gets_a_final_ack(peer, sut, judge, name):
    """The FinalAck says BAD_DST_Q, asked for or not; a message without transaction has none."""
    receiver = AcknowledgingReceiver(peer, sut)
    nowhere = rf"TCP:{sut.address}\{NOWHERE}" if name == "direct" else None
    lost = {} if name == "direct" else private_queue(sut.guid, UNKNOWN_NUMBER)
    sent = [receiver.give(receiver.asking(lost | {"DM": recoverable}, destination=nowhere)) for recoverable in (0, 1)]
    sent += [receiver.send(lost | journal, destination=nowhere) for journal in ({}, {"JN": 1}, {"JP": 1})]
    acks = receiver.await_all(receiver.final_acks, 3)
    judge("MQQB-3.1.5.8.2-20", expected=of_classes(*[BAD_DST_Q] * 3), observed=acks, evidence=[*sent, *acks])
    receiver.end()


@sut_survives()
@covers("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-26", "MQQB-3.1.5.8.2-29", "MQQB-3.1.5.8.2-32")
@BY_NAME
def test_a_transactional_message_does_not_get_into_another_queue(peer, sut, judge, name):
    """Of two transactional messages for a queue that is not, one with NA, and one for a queue that is, one arrives."""
    receiver = AcknowledgingReceiver(peer, sut)
    user, rest = receiver.administered(_user(sut, name, "plain") | KEPT), _addressed(sut, name, "plain")
    before = _reported(receiver)
    sent = [receiver.send(user, properties={"PA": 1, "NA": wanted}, **rest, **_traced(sut)) for wanted in (0, 1)]
    finals = receiver.await_all(receiver.final_acks, 2)
    receiver.await_all(lambda: receiver.acks_of(NOT_TRANSACTIONAL_Q, *sent), 1)
    sent.append(receiver.give(_first(receiver, name, "transactional")))
    arrived = receiver.await_all(lambda: receiver.acks_of(REACH_QUEUE, *sent), 1)
    acks = [ack for ack in receiver.admin_acks() if correlation(ack) in map(identifier, sent[:2])]
    evidence = [*sent, *acks, *arrived, *finals]
    refused = acknowledged(sent[1], of_class=NOT_TRANSACTIONAL_Q)
    judge("MQQB-3.1.5.8.2-26", expected=refused, observed=acks, evidence=evidence)
    refused_finally = of_classes(*[NOT_TRANSACTIONAL_Q] * 2)
    judge("MQQB-3.1.5.8.2-29", expected=refused_finally, observed=finals, evidence=evidence)
    _judge_where(
        receiver, judge, ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"), sent, evidence, before
    )
    receiver.end()


@sut_survives()
@covers("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-34", "MQQB-3.1.5.8.2-37")
@BY_NAME
def test_a_message_without_transaction_does_not_get_into_a_transactional_queue(peer, sut, judge, name):
    """Of messages without transaction for a transactional queue, half with NA, and one for a plain one, one arrives."""
    receiver = AcknowledgingReceiver(peer, sut)
    user, rest = _user(sut, name, "transactional") | KEPT, _addressed(sut, name, "transactional") | _traced(sut)
    before = _reported(receiver)
    sent = [
        receiver.give(receiver.asking(user | {"DM": recoverable}, properties={"PA": 1, "NA": wanted}, **rest))
        for recoverable in (0, 1)
        for wanted in (0, 1)
    ]
    receiver.await_all(lambda: receiver.acks_of(NOT_TRANSACTIONAL_MSG, *sent), 2)
    sent.append(receiver.give(receiver.asking(properties={"PA": 1})))
    arrived = receiver.await_all(lambda: receiver.acks_of(REACH_QUEUE, *sent), 1)
    acks = [ack for ack in receiver.admin_acks() if correlation(ack) in map(identifier, sent[:-1])]
    evidence = [*sent, *acks, *arrived]
    expected = acknowledged(sent[1], sent[3], of_class=NOT_TRANSACTIONAL_MSG)
    judge("MQQB-3.1.5.8.2-34", expected=expected, observed=acks, evidence=evidence)
    _judge_where(receiver, judge, ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"), sent, evidence, before)


def _judge_where(receiver, judge, rules, sent, evidence, before):
    """Judge that of some messages only the last arrived, was reported or is kept anywhere."""
    arrived = receiver.acks_of(REACH_QUEUE, *sent)
    reports = [report for report in receiver.reports() if report not in before]
    kept = remains(receiver.sut, sent[:-1], "plain", "admin", "transactional")
    expected = facts(arrived=acknowledged(sent[-1]), reported=packets(), kept=IN_NONE)
    observed = {"arrived": arrived, "reported": reports, "kept": kept}
    judge(*rules, expected=expected, observed=observed, evidence=[*evidence, *reports])


def _first(receiver, name, kind):
    """Make the first message of another sequence, for a queue that takes it."""
    user = receiver.administered(_user(receiver.sut, name, kind))
    rest = _addressed(receiver.sut, name, kind)
    return Sequence(receiver.peer, ordinal=2).message(user, properties={"PA": 1}, **rest)
