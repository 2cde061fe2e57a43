"""MS-MQSO 3.3.4.2, 3.3.4.3: an application that queries a paused outgoing queue and sends messages to it."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.sender import Sender

ON_HOLD_STATE = "OnHold"
DELIVERY_MODES = ("express", "recoverable", "transactional")


@needs("send", "queue_control", "pause")
@covers("MQSO-3.3.4.2-D01", "MQSO-3.3.4.3-D01", "MQSO-3.3.4.3-D03")
def test_paused_outgoing_queue_accepts_messages_and_stays_paused(peer, sut, judge):
    """The SUT has a session with the peer for an outgoing queue that is then paused. The application can still send
    express, recoverable and transactional messages; they wait in the queue. Two queries leave the queue paused. When
    the queue is resumed, the messages are sent.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-paused"))
    sender.send(1)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    peer.settle()
    sut.pause(sender.to)
    accepted = {
        delivery: sut.attempt(sender.send, tag, delivery=delivery) for tag, delivery in enumerate(DELIVERY_MODES, 2)
    }
    judge("MQSO-3.3.4.3-D01", expected=each(Outcome.DONE, "send"), observed=accepted)
    states = []
    for _ in range(2):
        sut.control.call("get_outgoing_queue", to=sender.to)
        states.append(sut.outgoing_queue(sender.to)["state"])
    judge(
        "MQSO-3.3.4.2-D01",
        expected=[ON_HOLD_STATE] * 2,
        observed=states,
        case="states of the paused queue after queries",
        evidence=frames,
    )
    frames = sender.collect_messages_until_silence(session, 1)
    observed = {
        "ApplicationTags_of_the_sent_messages": Sender.list_tags(frames),
        "number_of_waiting_messages": sut.outgoing_queue(sender.to)["count"],
    }
    expected = facts(ApplicationTags_of_the_sent_messages=[1], number_of_waiting_messages=len(DELIVERY_MODES))
    judge("MQSO-3.3.4.3-D03", expected=expected, observed=observed, evidence=frames)
    sut.resume(sender.to)
    session = session if session.record.closed_by is None else sender.await_session()
    frames = sender.collect_messages_until_silence(session, 1 + len(DELIVERY_MODES))
    judge(
        "MQSO-3.3.4.3-D03",
        expected=set(range(2, 2 + len(DELIVERY_MODES))),
        observed={tag for tag in Sender.list_tags(frames) if tag != 1},
        evidence=frames,
        case="ApplicationTags of the messages that are sent after the queue is resumed",
    )
    session.acknowledge_all()
