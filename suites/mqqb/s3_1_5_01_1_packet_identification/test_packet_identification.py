"""MS-MQQB 3.1.5.1.1 Packet Identification: the fields of a packet identify its kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import closed_without_answer, fields, holds, packet
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, malforms, needs
from harness.wire import PrivateQueueFormatNameId, connection_parameters
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.ordering import ACK_RECEIVE, build_final_ack, build_order_ack
from suites.mqqb.steps.outgoing_session import await_session_of_sut
from suites.mqqb.steps.sequences import NOT_RESENT_OUTCOME, RESENT_OUTCOME, SequenceSentBySut

VALID_TIMEOUT_FIELDS: dict[str, Any] = {"RecoverableAckTimeout": 500, "AckTimeout": 20_000}
CHANGES_OF_PARAMETERS_PACKET: dict[str, dict[str, Any]] = {
    "IN 0": {"base": {"IN": 0}},
    "PT 0": {"internal": {"PT": 0}},
    "PT 1": {"internal": {"PT": 1}},
    "PT 2": {"internal": {"PT": 2}},
    "PT 7": {"internal": {"PT": 7}},
    "PT 11": {"internal": {"PT": 11}},
}


def _address_queue_by_path(path):
    """Return a change that addresses a message to another path of the SUT."""
    return lambda peer: {"destination": rf"TCP:{peer.sut.address}\{path}"}


def _address_queue_by_number(peer):
    """Address a message to a private queue of the SUT that is not the order queue, by its number."""
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=NON_ORDER_QUEUE_NUMBER)
    return {"destination": queue, "user": {"QueueManagerAddress": peer.sut.guid}}


NON_ORDER_QUEUE_NUMBER = 0x4D51
_CHANGES_ADDRESSING_OTHER_THAN_ORDER_QUEUE = (
    *map(_address_queue_by_path, (r"PRIVATE$\mqc-other", r"PRIVATE$\order_queue$2", "order_queue$")),
    _address_queue_by_number,
)
_CHANGES_OF_BASE_FLAGS: tuple[Callable[..., dict[str, Any]], ...] = (
    lambda peer: {"base": {"PR": 3}},
    lambda peer: {"base": {"PR": 7}},
    lambda peer: {"debug": {}},
    lambda peer: {"base": {"TR": 1}, "debug": {}},
)
"""Changes that set bits of BaseHeader.Flags."""


_CHANGES_OF_LABEL = tuple(
    functools.partial(lambda label, peer: {"label": label}, label)
    for label in ("QM Ordering", "QM Ordering Ack 2", "qm ordering ack")
)
ACKNOWLEDGMENT_CHANGES_BY_RULE: dict[str, tuple[Callable[..., Any], ...]] = {
    "MQQB-3.1.5.1.1-04": (build_order_ack, lambda peer: {"piggyback": True}, *_CHANGES_OF_BASE_FLAGS),
    "MQQB-3.1.5.1.1-05": (build_order_ack, *_CHANGES_ADDRESSING_OTHER_THAN_ORDER_QUEUE),
    "MQQB-3.1.5.1.1-06": (build_order_ack, *_CHANGES_OF_LABEL),
    "MQQB-3.1.5.1.1-07": (
        build_order_ack,
        *(functools.partial(lambda size, peer: {"size": size}, size) for size in (40, 37, 35, 16)),
    ),
    "MQQB-3.1.5.1.1-08": (
        build_order_ack,
        lambda peer: {"MessageClass": 0x0002},
        lambda peer: {"MessageClass": 0x0001},
        lambda peer: {"MessageClass": 0x0000},
    ),
    "MQQB-3.1.5.1.1-09": (build_final_ack, *_CHANGES_OF_BASE_FLAGS),
    "MQQB-3.1.5.1.1-10": (build_final_ack, *_CHANGES_ADDRESSING_OTHER_THAN_ORDER_QUEUE),
    "MQQB-3.1.5.1.1-11": (build_final_ack, *_CHANGES_OF_LABEL),
    "MQQB-3.1.5.1.1-12": (
        functools.partial(build_final_ack, MessageClass=ACK_RECEIVE),
        lambda peer: {"MessageClass": 0x0002},
    ),
}
"""For each rule: a step that makes an acknowledgment, and the changes that make the message not an acknowledgment."""


def _build_changed_acknowledgment(make, peer, session, sent, changes):
    """Make an acknowledgment with changed fields. ``size``: the size of its body in bytes. ``piggyback``: whether the
    message, which must be express and the first message of the peer on the session, contains a SessionHeader.
    """
    size, piggyback = changes.pop("size", None), changes.pop("piggyback", False)
    usual = make(peer, sent)
    if size is not None:
        changes["body"] = bytes(usual["MessagePropertiesHeader"].MessageBody)[:size].ljust(size, b"\0")
    if piggyback:
        changes["session"] = {
            "AckSequenceNumber": sum(frame.kind == "UserMessage" for frame in session.received),
            "UserMsgSequenceNumber": 1,
            "WindowSize": 64,
        }
    return make(peer, sent, **changes)


@malforms(
    "MQQB-2.2.4-01",
    "MQQB-2.2.4-04",
    "MQQB-2.2.4-05",
    "MQQB-2.2.4-07",
    "MQQB-2.2.4-08",
    "MQQB-2.2.4-10",
    "MQQB-2.2.5-01",
    "MQQB-2.2.5-05",
    "MQQB-2.2.5-06",
    "MQQB-2.2.5-08",
)
@needs("send")
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=covers(rule)) for rule in ACKNOWLEDGMENT_CHANGES_BY_RULE])
def test_message_that_differs_from_an_acknowledgment_stops_no_resending(peer, sut, judge, rule):
    """The peer sends an OrderAck or FinalAck, which ends the resending of a message. A message that differs from such
    an acknowledgment in one field does not end the resending, and leaves the session open. The peer sends the
    acknowledgment and these messages on separate sessions, because their effect on sequence numbers is undefined
    (erratum E26).
    """
    make, *changes = ACKNOWLEDGMENT_CHANGES_BY_RULE[rule]
    outgoing = SequenceSentBySut(peer, sut)
    [sent] = outgoing.send()
    session = outgoing.session
    outgoing.sender.acknowledge_all(session)
    frames = [sent, session.send(make(peer, sent))]
    acknowledged = outgoing.await_resend(1)
    session.close()
    [other] = outgoing.send()
    session = outgoing.session
    outgoing.sender.acknowledge_all(session)
    frames += [
        other,
        *(session.send(_build_changed_acknowledgment(make, peer, session, other, change(peer))) for change in changes),
    ]
    peer.settle()
    observed = {
        "acknowledged message": acknowledged,
        "session open": session.record.closed_by is None,
        "other message": outgoing.await_resend(2),
    }
    expected = fields(
        {"acknowledged message": NOT_RESENT_OUTCOME, "session open": True, "other message": RESENT_OUTCOME}
    )
    judge(rule, expected=expected, observed=observed, evidence=frames)


@malforms("MQQB-2.2.1-02")
@covers("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03")
def test_connection_parameters_with_wrong_in_or_pt_close_session(peer, judge):
    """The SUT answers a ConnectionParameters packet; when the same packet arrives with IN clear or with a wrong PT, the
    SUT closes the connection.
    """
    unchanged = peer.request_session()
    asked = unchanged.send(connection_parameters(**VALID_TIMEOUT_FIELDS))
    answer = unchanged.poll("ConnectionParameters")
    judge.all(
        expected=packet("ConnectionParameters"),
        observed=answer,
        case="answer to the unchanged packet",
        evidence=[asked, answer],
    )
    for flaw, changes in CHANGES_OF_PARAMETERS_PACKET.items():
        connection = peer.request_session()
        sent = connection.send(connection_parameters(**VALID_TIMEOUT_FIELDS, **changes))
        observed = await_early_close(peer, connection)
        judge.all(
            expected=closed_without_answer(1),
            observed=observed,
            case=f"packet with {flaw}",
            evidence=[sent, connection.last],
        )


@malforms("MQQB-2.2.1-02")
@covers("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03")
@pytest.mark.parametrize(
    ("base", "packet_type"),
    [({"IN": 0, "PacketSize": 20}, 1), ({"SH": 0}, 1), ({}, 0), ({}, 4), ({}, 9)],
    ids=["IN-0", "SH-0", "PT-0", "PT-4", "PT-9"],
)
def test_session_ack_with_wrong_in_sh_or_pt_closes_session(peer, judge, base, packet_type):
    """The SUT accepts a SessionAck of any priority; when the same packet arrives with IN or SH clear or with a wrong
    PT, the SUT closes the session.
    """
    connection = peer.open_raw()
    accepted = [
        connection.send(connection.build_session_ack(base={"PacketSize": 20, "PR": priority})) for priority in (3, 0, 7)
    ]
    alive = connection.request_acknowledgment()
    judge(
        "MQQB-3.1.5.1.1-03",
        expected=packet("SessionAck"),
        observed=alive or connection,
        case="answer to a message after SessionAcks of several priorities",
        evidence=[*accepted, alive],
    )
    if alive is None:
        raise ConformanceFailure("the SUT did not acknowledge a message on an open session")
    known = len(connection.received)
    counts = {"UserMsgSequenceNumber": 1, "RecoverableMsgSeqNumber": 1}
    sent = connection.send(connection.build_session_ack(base=base, internal={"PT": packet_type}, **counts))
    observed = await_early_close(peer, connection)
    judge.all(expected=closed_without_answer(known), observed=observed, evidence=[sent, connection.last])


@covers("MQQB-3.1.5.1.1-13")
@pytest.mark.parametrize("opens", ["peer", "sut"])
def test_packet_with_in_clear_and_class_normal_is_acknowledged(peer, sut, judge, opens):
    """The peer sends a packet with IN clear and the class NORMAL as the first message of the session. The SUT
    acknowledges the packet and puts it into its queue, even if its label and the size of its body are those of an
    OrderAck.
    """
    connection = peer.open_raw() if opens == "peer" else await_session_of_sut(peer, sut)
    known = len(connection.received)
    label = "QM Ordering Ack"
    sent = connection.send(peer.recoverable_message(label=label, body=bytes(36)))
    answer = connection.poll("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
    judge("MQQB-3.1.5.1.1-13", expected=expected, observed=answer or connection, evidence=[sent, answer])
    if sut.has("receive"):
        peer.eventually(lambda: any(one["label"] == label for one in sut.messages("plain")))
        judge(
            "MQQB-3.1.5.1.1-13",
            expected=holds("the message is in its queue"),
            observed=any(one["label"] == label for one in sut.messages("plain")),
            evidence=[sent, *connection.received[known:]],
        )
