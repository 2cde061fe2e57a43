"""MS-MQSO 3.3.4.5 Transfer Message between the SUT and the peer, without further queue managers."""

from __future__ import annotations

from harness.expectations import fields
from harness.peer.conversation import Conversation
from harness.run.marks import covers
from suites.messages import Sequence
from suites.mqmq.steps.session_headers import await_saved_numbers
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.sender import Sender

UNACKNOWLEDGED_SESSION_COUNT = 3
LARGE_BODY = bytes(range(256)) * 20
"""A body of more than 4 KiB."""


@covers("MQSO-3.3.4.5-D03")
def test_each_sender_gets_acknowledgments_of_its_own_messages(peer, sut, judge):
    """The peer sends a recoverable, a transactional and a large message, and another queue manager sends two messages.
    The SUT acknowledges to each sender exactly the messages from that sender, and flags each of them as saved.
    """
    sessions = {"peer": peer.open_raw(), "other": peer.open_raw({"ClientGuid": OTHER_GUID})}
    packets = {
        "peer": [peer.recoverable_message(), Sequence(peer).message(), peer.recoverable_message(body=LARGE_BODY)],
        "other": [peer.recoverable_message({"SourceQueueManager": OTHER_GUID}) for _ in range(2)],
    }
    counts = {name: len(of_sender) for name, of_sender in packets.items()}
    sent = [sessions[name].send(packet) for name, of_sender in packets.items() for packet in of_sender]
    acks = {name: sessions[name].await_session_ack(count) for name, count in counts.items()}
    observed = {name: ack["SessionHeader"].AckSequenceNumber if ack else "no SessionAck" for name, ack in acks.items()}
    case, evidence = "number of acknowledged messages of each sender", [*sent, *acks.values()]
    judge("MQSO-3.3.4.5-D03", expected=fields(counts), observed=observed, evidence=evidence, case=case)
    saved = {name: await_saved_numbers(sessions[name], count) for name, count in counts.items()}
    judge(
        "MQSO-3.3.4.5-D03",
        expected={name: list(range(1, count + 1)) for name, count in counts.items()},
        observed={name: numbers for name, (numbers, _) in saved.items()},
        evidence=[*sent, *(frame for _, of_session in saved.values() for frame in of_session)],
        case="numbers of the messages that are acknowledged as saved",
    )


@covers("MQSO-3.3.4.5-D04")
def test_message_is_sent_again_until_it_is_acknowledged(peer, sut, judge):
    """The peer drops three sessions without acknowledging the SUT's message, and acknowledges it on the fourth session.
    The SUT sends the message on each of the four sessions, but does not repeat it on the session on which it sends a
    later message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-again"))
    sender.send(1, delivery="recoverable")
    session: Conversation | None
    session, came = sender.await_first_messages(1)
    for _ in range(UNACKNOWLEDGED_SESSION_COUNT):
        if session is not None:
            session.close()
            session = sender.poll_session()
            came += [] if session is None else sender.collect_messages(session, 1)
    if session is not None:
        session.acknowledge_all()
        session.stays_quiet()
        session.close()
        sender.send(2)
        last = sender.await_session()
        came += sender.collect_messages_until_silence(last, 1)
        last.acknowledge_all()
    judge(
        "MQSO-3.3.4.5-D04",
        expected=[1] * (UNACKNOWLEDGED_SESSION_COUNT + 1) + [2],
        observed=Sender.list_tags(came),
        case="numbers of the messages that arrived",
        evidence=came,
    )
