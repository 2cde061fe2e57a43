"""MS-MQQB 3.1.1.3.1 Session State, 3.1.1.3.1.2 OutgoingMessagePosition, 3.1.1.3.2 Persistent State Storage.

MS-MQQB 3.1.4.1 Queue Manager Started: what a session has for itself, and what of it outlives a restart.
"""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.conversation import RawConversation
from harness.peer.timeouts import ACK_MS
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import find_accepted_session, is_address
from suites.mqqb.steps.pinging import read_element
from suites.mqqb.steps.provoking import Provoker
from suites.mqqb.steps.sender import Sender, tags
from suites.mqqb.steps.sequences import Outgoing, numbers


def _acknowledged(connection: RawConversation, count: int) -> Frame | None:
    """Wait for the acknowledgment of so many messages; return the last that came."""
    sut = connection.peer.sut
    within_ms = sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS)
    connection.poll("SessionAck", lambda one: one["SessionHeader"].AckSequenceNumber >= count, within_ms=within_ms)
    acks = [frame for frame in connection.received if frame.kind == "SessionAck"]
    return acks[-1] if acks else None


@covers("MQQB-3.1.1.3.1-01")
def test_each_session_counts_its_own_messages(peer, sut, judge):
    """Of two sessions one gets two messages, the other one: the acknowledgments count 2 and 1."""
    first, second = peer.open_raw(), peer.open_raw()
    sent = [first.send(peer.recoverable_message()), second.send(peer.recoverable_message())]
    sent.append(first.send(peer.recoverable_message()))
    acks = [_acknowledged(first, 2), _acknowledged(second, 1)]
    counted = [None if ack is None else int(ack["SessionHeader"].AckSequenceNumber) for ack in acks]
    judge("MQQB-3.1.1.3.1-01", expected=[2, 1], observed=counted, case="acknowledged", evidence=[*sent, *acks])


@needs("restart", "inspect")
@covers("MQQB-3.1.1.3.1-10", "MQQB-3.1.1.3.1-11")
def test_a_session_has_a_queue_to_send_from_also_after_a_restart(peer, sut, judge):
    """An accepted session has no outgoing queue and nothing to send; one for a message has both after a restart."""
    sender = Sender(peer, sut, peer.direct_name("mqc-reference"))
    other = peer.open_raw()
    accepted = find_accepted_session(sut, peer.identifier)
    reference = read_element(accepted, "OutgoingQueueReference")
    judge("MQQB-3.1.1.3.1-10", expected=None, observed=reference, case="accepted")
    other.close()  # the message might go on it (E16)
    sender.send(1, delivery="recoverable")
    session, came = sender.first(1)
    addresses = [read_element(one, "RemoteQMAddress") for one in (accepted, *_for(sut, sender.to))]
    judge(
        "MQQB-3.1.1.3.1-11",
        expected=holds("addresses"),
        observed=bool(all(map(is_address, addresses)) and len(addresses) > 1) or str(addresses),
        evidence=came,
    )
    judge.conclude("MQQB-3.1.1.3.1-11")
    session.close()
    sut.restart()
    references = {read_element(one, "OutgoingQueueReference") for one in _for(sut, sender.to)}
    judge("MQQB-3.1.1.3.1-10", expected={sender.to}, observed=references, case="after a restart")
    session = sender.session()
    sender.collect(session, 1)
    sender.acknowledge_all(session)


def _for(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the initiated sessions whose OutgoingQueueReference is a format name, or nothing."""
    shown = [one for one in sut.inspect()["Sessions"] if one["role"] == "initiator"]
    return [one for one in shown if (one["OutgoingQueueReference"] or format_name).lower() == format_name.lower()]


@needs("restart")
@covers("MQQB-3.1.1.3.1-12")
def test_acknowledgments_that_must_survive_are_sent_after_a_restart(peer, sut, judge):
    """Acknowledgments that the SUT has to send, to a queue that cannot be reached, are messages as any others."""
    to = peer.direct_name("mqc-acks-survive")
    provoker = Provoker(peer, to)
    for tag, delivery in ((1, "recoverable"), (2, "express"), (3, "recoverable")):
        provoker.send(tag, delivery)
    if provoker.connection is None or _acknowledged(provoker.connection, 3) is None:
        raise ConformanceFailure("the SUT did not acknowledge the messages that ask for its own")
    peer.settle()
    sut.restart()
    sender = Sender(peer, sut, to)
    session = sender.next_session()
    came = [] if session is None else sender.collect_all(session, 2)
    judge("MQQB-3.1.1.3.1-12", expected=[1, 3], observed=tags(came), case="messages", evidence=came)
    if session is not None:
        sender.acknowledge_all(session)
    peer.settle()


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1.2-01")
def test_a_transactional_message_has_its_number_also_after_a_restart(peer, sut, judge):
    """Two messages of a sequence, of which none is acknowledged, come again after a restart under their numbers."""
    outgoing = Outgoing(peer, sut, "mqc-numbers-survive")
    sent = outgoing.send(2)
    sut.restart()
    outgoing.next_session()
    peer.environment.run_until(
        lambda: all(len(outgoing.copies(number)) > 1 for number in (1, 2)), sut.response_timeout_ms
    )
    again = [copy for number in (1, 2) for copy in outgoing.copies(number)[1:2]]
    evidence = [*sent, *again]
    judge("MQQB-3.1.1.3.1.2-01", expected=numbers(sent), observed=numbers(again), evidence=evidence)
    outgoing.settle()
