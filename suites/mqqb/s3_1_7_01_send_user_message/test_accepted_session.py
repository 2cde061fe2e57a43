"""MS-MQQB 3.1.7.1 Send User Message Event: the sender sends its first message on a session that it accepted."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.opening import find_accepted_session
from suites.mqqb.steps.ordering import is_order_or_final_ack
from suites.mqqb.steps.pinging import read_data_model_element

ORDER_QUEUE_NUMBER = "00000004"
"""The number of order_queue$ in a private format name (E42)."""


@needs("inspect")
@covers("MQQB-3.1.7.1-04")
@pytest.mark.parametrize(
    ("first", "queue", "kind"),
    [
        ("OrderAck", "transactional", "direct"),
        ("FinalAck", "plain", "direct"),
        pytest.param("OrderAck", "transactional", "private", marks=needs("queues")),
    ],
)
def test_accepted_session_gets_outgoing_queue_of_its_first_message(peer, sut, judge, first, queue, kind):
    """The peer sends a transactional message to a direct or a private format name, and the SUT accepts or refuses the
    message. If the OrderAck or the FinalAck of the SUT is the first message on the session of the peer,
    OutgoingQueueReference of that session is the queue of this acknowledgment.
    """
    peer.inbox.listen()
    session = peer.open_raw()
    named = peer.build_fields_for_private_name_of_sut_queue(sut.queue(queue)) if kind == "private" else {}
    place: dict[str, Any] = {"destination": None} if kind == "private" else {}
    before = read_data_model_element(find_accepted_session(sut, peer.identifier), "OutgoingQueueReference")
    if before is not None:
        raise ConformanceFailure(f"a new session already has the OutgoingQueueReference {before}")
    sent = session.send(Sequence(peer).message(named, queue=queue, **place))
    acks = peer.inbox.wait(is_order_or_final_ack)
    if not acks:
        raise ConformanceFailure(f"no {first} arrived")
    if acks[0].connection is not session.record:
        judge.mark_not_exercised(
            "MQQB-3.1.7.1-04", reason=f"the SUT sent its {first} on a session that it opened", evidence=acks
        )
        return
    shown = read_data_model_element(find_accepted_session(sut, peer.identifier), "OutgoingQueueReference")
    destination = acks[0]["UserHeader"].DestinationQueue
    direct = getattr(destination, "DirectFormatName", None)
    name = f"DIRECT={direct.rstrip(chr(0))}" if direct else f"PRIVATE={peer.identifier}\\{ORDER_QUEUE_NUMBER}"
    judge(
        "MQQB-3.1.7.1-04",
        expected=name.lower(),
        observed=str(shown).lower(),
        case=f"OutgoingQueueReference of an accepted session on which the first message is the {first}",
        evidence=[sent, acks[0]],
    )
    peer.inbox.acknowledge()


@needs("inspect")
@covers("MQQB-3.1.7.1-04")
def test_each_accepted_session_gets_outgoing_queue_of_its_own_message(peer, second_host, sut, judge):
    """The peer and a second queue manager at another address each send a transactional message on a session of their
    own. If the SUT sends its OrderAck on the session of its message, OutgoingQueueReference of that session is the
    order queue at the address of the sender.
    """
    for host, name in ((peer, "peer"), (second_host, "second host")):
        host.inbox.listen()
        session = host.open_raw()
        sent = session.send(Sequence(host).message())
        acks = host.inbox.wait(is_order_or_final_ack)
        if not acks:
            raise ConformanceFailure(f"no OrderAck arrived at the {name}")
        if acks[0].connection is not session.record:
            reason = "the SUT sent its OrderAck on a session that it opened"
            judge.mark_not_exercised("MQQB-3.1.7.1-04", reason=reason, evidence=acks)
            continue
        shown = read_data_model_element(find_accepted_session(sut, host.identifier), "OutgoingQueueReference")
        judge(
            "MQQB-3.1.7.1-04",
            expected=rf"direct=tcp:{host.address}\private$\order_queue$",
            observed=str(shown).lower(),
            case=f"OutgoingQueueReference of the session of the {name}",
            evidence=[sent, acks[0]],
        )
        host.inbox.acknowledge()
