"""MS-MQQB 3.1.1.3.1 Session State, 3.1.1.3.1.2 OutgoingMessagePosition, 3.1.1.3.2 Persistent State Storage.

MS-MQQB 3.1.4.1 Queue Manager Started: the elements of each session, and the elements that survive a restart.
"""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import holds, none
from harness.run.marks import covers, needs, varied
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import find_accepted_session, is_text_of_ip_address
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.provoking import SecondQueueManager
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut, list_sequence_numbers


@covers("MQQB-3.1.1.3.1-01", "MQQB-3.1.3.2-04")
@varied("priority", "body", "destination", "queue quota", "queue privacy")
def test_messages_are_counted_for_each_session_apart(peer, sut, judge):
    """The peer sends two messages on one session and one message on a second session. The SessionAcks on these sessions
    count 2 and 1. After the end of the second session, the first session continues its count, and the count of a third
    session begins with 1.
    """
    first_session, second_session = peer.open_raw(), peer.open_raw()
    sent = [first_session.send(peer.recoverable_message()), second_session.send(peer.recoverable_message())]
    sent.append(first_session.send(peer.recoverable_message()))
    acks = [first_session.await_session_ack(2), second_session.await_session_ack(1)]
    second_session.close()
    peer.settle()
    sent.append(first_session.send(peer.recoverable_message()))
    acks.append(first_session.await_session_ack(3))
    third_session = peer.open_raw()
    sent.append(third_session.send(peer.recoverable_message()))
    acks.append(third_session.await_session_ack(1))
    counted = [None if ack is None else int(ack["SessionHeader"].AckSequenceNumber) for ack in acks]
    judge.all(
        expected=[2, 1, 3, 1],
        observed=counted,
        case="AckSequenceNumber on two sessions, on the first one after the end of the second, and on a third session",
        evidence=[*sent, *acks],
    )


@needs("restart", "inspect")
@covers("MQQB-3.1.1.3.1-10", "MQQB-3.1.1.3.1-11")
def test_outgoing_queue_reference_of_a_session_survives_restart(peer, sut, judge):
    """A session that the SUT accepted has no outgoing queue. A session that the SUT opened for an unacknowledged
    message still has its outgoing queue after a restart. Each session shows an address as RemoteQMAddress.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-reference"))
    sender.send_to_other_queue()
    for earlier_session in peer.inbox.accepted:
        earlier_session.close()
    peer.settle()
    other_session = peer.open_raw()
    accepted = find_accepted_session(sut, peer.identifier)
    reference = read_data_model_element(accepted, "OutgoingQueueReference")
    case = "OutgoingQueueReference of a session that the SUT accepted after it had opened a session"
    judge("MQQB-3.1.1.3.1-10", expected=None, observed=reference, case=case)
    other_session.close()  # the message might go on it (E16)
    sender.send(1, delivery="recoverable")
    session, came = sender.await_first_messages(1)
    addresses = [
        read_data_model_element(one, "RemoteQMAddress")
        for one in (accepted, *_list_initiated_sessions_for_queue(sut, sender.to))
    ]
    judge(
        "MQQB-3.1.1.3.1-11",
        expected=holds("RemoteQMAddress of each session is an address"),
        observed=bool(all(map(is_text_of_ip_address, addresses)) and len(addresses) > 1) or str(addresses),
        evidence=came,
    )
    session.close()
    peer.settle()
    waiting = [
        one for one in sut.inspect()["Sessions"] if one["role"] == "initiator" and one.get("OutgoingMessageTable")
    ]
    judge(
        "MQQB-3.1.1.3.1-10",
        expected={sender.to},
        observed={read_data_model_element(one, "OutgoingQueueReference") for one in waiting},
        case="OutgoingQueueReference after the end of the connection",
    )
    judge(
        "MQQB-3.1.1.3.1-11",
        expected=none("RemoteQMAddress that is no address"),
        observed=[one["RemoteQMAddress"] for one in waiting if not is_text_of_ip_address(one["RemoteQMAddress"])],
    )
    judge.conclude("MQQB-3.1.1.3.1-11")
    sut.restart()
    references = {
        read_data_model_element(one, "OutgoingQueueReference")
        for one in _list_initiated_sessions_for_queue(sut, sender.to)
    }
    judge("MQQB-3.1.1.3.1-10", expected={sender.to}, observed=references, case="OutgoingQueueReference after a restart")
    session = sender.await_session()
    sender.collect_messages(session, 1)
    session.acknowledge_all()


def _list_initiated_sessions_for_queue(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the sessions that the SUT opened and whose OutgoingQueueReference is the given format name
    or is missing.
    """
    initiated = [one for one in sut.inspect()["Sessions"] if one["role"] == "initiator"]
    return [one for one in initiated if (one["OutgoingQueueReference"] or format_name).lower() == format_name.lower()]


@needs("restart")
@covers("MQQB-3.1.1.3.1-12")
@varied("destination", acknowledgments=("none", "of arrival"), body=("short", "5,000 bytes"))
def test_recoverable_acknowledgments_are_sent_after_restart(peer, sut, judge):
    """Three acknowledgments from the SUT, two of them recoverable, wait for an unreachable queue. After a restart, the
    SUT sends the two recoverable acknowledgments in order.
    """
    to = peer.direct_name("mqc-acks-survive")
    provoker = SecondQueueManager(peer, to)
    for tag, delivery in ((1, "recoverable"), (2, "express"), (3, "recoverable")):
        provoker.send(tag, delivery)
    if provoker.connection is None or provoker.connection.await_session_ack(3) is None:
        raise ConformanceFailure("the SUT did not acknowledge the messages that request its acknowledgments")
    peer.settle()
    sut.restart()
    sender = Sender(peer, sut, to)
    session = sender.poll_session()
    came = [] if session is None else sender.collect_messages_until_silence(session, 2)
    judge(
        "MQQB-3.1.1.3.1-12",
        expected=[1, 3],
        observed=Sender.list_tags(came),
        case="numbers of the messages sent after a restart",
        evidence=came,
    )
    if session is not None:
        session.acknowledge_all()
    peer.settle()


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1.2-01")
@varied("positive journaling", "negative journaling")
def test_unacknowledged_transactional_messages_keep_number_over_restart(peer, sut, judge):
    """The peer acknowledges the first of three messages of a sequence. After a restart, the SUT sends the other two
    messages again, with their TxSequenceNumbers.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-numbers-survive")
    acknowledged, *sent = outgoing.send(3)
    outgoing.send_session_ack()
    ack = outgoing.send_order_ack(1)
    peer.settle()
    sut.restart()
    outgoing.await_session()
    peer.environment.run_until(
        lambda: all(len(outgoing.copies(number)) > 1 for number in (2, 3)), sut.response_timeout_ms
    )
    again = [copy for number in (2, 3) for copy in outgoing.copies(number)[1:2]]
    evidence = [acknowledged, ack, *sent, *again]
    judge(
        "MQQB-3.1.1.3.1.2-01",
        expected=list_sequence_numbers(sent),
        observed=list_sequence_numbers(again),
        case="TxSequenceNumbers after a restart",
        evidence=evidence,
    )
    outgoing.acknowledge_all()
