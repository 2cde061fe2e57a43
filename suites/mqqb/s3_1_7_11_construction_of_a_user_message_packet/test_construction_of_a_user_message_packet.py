"""MS-MQQB 3.1.7.11 Construction of a UserMessage Packet: the parts of the packet and its SessionHeader.

UserMsgSequenceNumber of the SessionHeader counts the message that contains the header, because the sender sets the
field again when it sends the message (MS-MQQB 3.1.7.1.3).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.sender import Sender

MESSAGE_LABEL = "made of this"
DELIVERIES_BY_TAG = {0x0001_0001: "express", 0x8000_0002: "recoverable", 0xFFFF_FFFD: "express"}
"""The deliveries of three messages, by ApplicationTag. Each tag has bits above the lower 16."""
LIFETIME_OF_FIRST_MESSAGE_S = 0x0001_0000
BODY_TYPES = (0, 0x1011, 0x8)
"""The values of BodyType: none, VT_VECTOR of VT_UI1, and VT_BSTR (MS-MQMQ 2.2.12)."""
MESSAGE_PRIORITY = 6
NEARLY_DUE_ACK_DELAY_FRACTION = 0.85
"""The fraction of the timer's duration after which the SUT sends a message. The fraction is more than three quarters,
but leaves enough time to send before the timer expires.
"""
NOT_YET_DUE_ACK_DELAY_FRACTION = 0.4
DUE_ACK_DELAY_FRACTION = 0.75
RECOVERABLE_MESSAGE_COUNT_BY_DELIVERY = {"express": 2, "recoverable": 20, "transactional": 2}
"""The number of recoverable messages that a SessionHeader acknowledges, by the delivery of the message with the header.
One number is greater than half the number of the flags.
"""
MAX_SEND_ATTEMPTS = 5
"""The number of attempts. The check needs several attempts because a busy machine may act too early or too late."""
LAST_ACKED_NUMBER_ELEMENT = "LastAckedRecoverableMsgSeqNumber"


RULES_OF_SESSION_HEADER = (
    "MQQB-3.1.7.11-02",
    "MQQB-3.1.7.11-03",
    "MQQB-3.1.7.11-05",
    "MQQB-3.1.7.11-06",
    "MQQB-3.1.7.11-07",
    "MQQB-3.1.7.11-08",
    "MQQB-3.1.7.11-09",
    "MQQB-3.1.7.11-10",
    "MQQB-3.1.7.11-11",
    "MQMQ-2.2.20.4-05",
    "MQMQ-2.2.20.4-08",
    "MQMQ-2.2.20.4-D01",
)

ACKNOWLEDGMENT_NEVER_NEARLY_DUE_REASON = (
    "the SUT stalled, and never sent a message when an acknowledgment was nearly due"
)


@needs("send")
@covers("MQQB-3.1.7.11-01", "MQDMPR-3.1.7.1.30-04")
def test_packets_have_identifiers_and_labels_of_their_messages(peer, sut, judge):
    """An application sends an express message, a recoverable message and a third message with different properties; two
    of these messages have the same label and bodies of the same size. Each packet has the identifier, the label, the
    body and the properties of its message.
    """
    sender = Sender(peer, sut)
    expected: list[dict[str, Any]] = []
    for number, (tag, delivery) in enumerate(DELIVERIES_BY_TAG.items(), 1):
        (identifier,) = sender.send(
            tag,
            label=f"{MESSAGE_LABEL} {number % 2}",
            body=f"message {number}",
            delivery=delivery,
            time_to_reach_queue_s=LIFETIME_OF_FIRST_MESSAGE_S + number,
            time_to_be_received_s=2 * LIFETIME_OF_FIRST_MESSAGE_S - number,
            body_type=BODY_TYPES[number - 1],
            priority=MESSAGE_PRIORITY,
        )
        expected.append(
            {
                "MessageID": int(identifier.rpartition("\\")[2]),
                "Label": f"{MESSAGE_LABEL} {number % 2}",
                "body": f"message {number}",
                "BodyType": BODY_TYPES[number - 1],
                "ApplicationTag": tag,
                "TimeToReachQueue": LIFETIME_OF_FIRST_MESSAGE_S + number,
                "TimeToBeReceived": 2 * LIFETIME_OF_FIRST_MESSAGE_S - number,
                "DM": int(delivery == "recoverable"),
                "PR": MESSAGE_PRIORITY,
            }
        )
    session, sent = sender.await_first_messages(len(expected))
    for wanted, frame in zip(expected, sent, strict=True):
        base, user, properties = frame["BaseHeader"], frame["UserHeader"], frame["MessagePropertiesHeader"]
        judge.all(
            expected=fields(wanted),
            observed={
                "MessageID": user.MessageID,
                "Label": str(properties.Label).rstrip("\0"),
                "body": bytes(properties.MessageBody).decode(errors="replace"),
                "BodyType": properties.BodyType,
                "ApplicationTag": properties.ApplicationTag,
                "TimeToReachQueue": base.TimeToReachQueue,
                "TimeToBeReceived": user.TimeToBeReceived,
                "DM": user.DM,
                "PR": base.PR,
            },
            evidence=frame,
        )
    session.acknowledge_all()


@covers(*RULES_OF_SESSION_HEADER, "MQQB-3.1.7.11-12", "MQQB-3.1.7.11-15")
@pytest.mark.parametrize("delivery", ["express", "recoverable", pytest.param("transactional", marks=needs("send"))])
def test_message_has_session_header_when_acknowledgment_is_nearly_due(peer, second_host, sut, judge, delivery):
    """The peer sends three or more messages. The SUT sends a message soon afterwards, then an express, recoverable or
    transactional message when the acknowledgment is nearly due, and then a third message. Only the SUT's second message
    has a SessionHeader, with the specified values. A second host has sent a message.
    """
    group = RECOVERABLE_MESSAGE_COUNT_BY_DELIVERY[delivery]
    second_host.open_raw().send(peer.recoverable_message({"SourceQueueManager": second_host.identifier}))
    peer.configure(window_size=Sender.PEER_WINDOW_SIZE)
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1)
    sender.send(2, delivery="recoverable")
    session, _ = sender.await_first_messages(2)
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = agreed.RecoverableAckTimeout
    stalls = 0
    for attempt in range(1, MAX_SEND_ATTEMPTS + 1):
        session.acknowledge_all()
        before, received, recoverable = len(session.messages), (1 + group) * attempt, group * attempt
        sent = [session.send(make()) for make in (peer.message, *[peer.recoverable_message] * group)]
        early, nearly = (
            _send_message_after_packet(sender, session, sent[0], int(delay_ms * part), **kind)
            for part, kind in (
                (NOT_YET_DUE_ACK_DELAY_FRACTION, {}),
                (NEARLY_DUE_ACK_DELAY_FRACTION, {"delivery": delivery}),
            )
        )
        if peer.measure_duration(sent[0], early[-1]).ms < delay_ms * DUE_ACK_DELAY_FRACTION and has_session_header(
            nearly
        ):
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.has_stalled(sent[0].time_ms, peer.recorder.elapsed_ms())
    if stalls == MAX_SEND_ATTEMPTS:
        session.acknowledge_all()
        judge.give_up(Verdict.NOT_EXERCISED, ACKNOWLEDGMENT_NEVER_NEARLY_DUE_REASON)
        return
    carrying, evidence = nearly[-1], [*sent, *nearly]
    again = _send_message_after_packet(sender, session, sent[0])
    has = {"message sent early": early, "message sent when nearly due": nearly, "message sent after it": again}
    carried = [when for when, frames in has.items() if has_session_header(frames)]
    judge(
        "MQQB-3.1.7.11-02",
        "MQQB-3.1.7.11-03",
        expected=["message sent when nearly due"],
        observed=carried,
        case="labels of the messages with a SessionHeader",
        evidence=[*early, *nearly, *again],
    )
    judge(
        "MQQB-3.1.7.11-11", expected=1, observed=carrying["BaseHeader"].SH, case="SH of the message", evidence=evidence
    )
    if not has_session_header(nearly):
        raise ConformanceFailure("the SUT's message carried no SessionHeader although an acknowledgment was nearly due")
    header = carrying["SessionHeader"]
    for rules, name, expected in (
        (("MQQB-3.1.7.11-05", "MQMQ-2.2.20.4-05"), "AckSequenceNumber", received),
        (("MQQB-3.1.7.11-06",), "RecoverableMsgAckSeqNumber", recoverable - group + 1),
        (("MQQB-3.1.7.11-07",), "UserMsgSequenceNumber", before + 2),
        (("MQQB-3.1.7.11-08",), "RecoverableMsgSeqNumber", 1 + (delivery != "express") * attempt),
        (("MQQB-3.1.7.11-09", "MQMQ-2.2.20.4-08", "MQMQ-2.2.20.4-D01"), "RecoverableMsgAckFlags", (1 << group) - 1),
        (("MQQB-3.1.7.11-10", "MQMQ-2.2.20.4-D01"), "WindowSize", agreed.WindowSize),
    ):
        judge(*rules, expected=fields({name: expected}), observed=header, evidence=evidence)
    judge.conclude(*RULES_OF_SESSION_HEADER)

    sent.append(session.send(peer.message()))
    anew = session.stays_quiet(int(delay_ms * NOT_YET_DUE_ACK_DELAY_FRACTION))
    judge(
        "MQQB-3.1.7.11-15",
        expected=holds("the SUT sends no acknowledgment when the stopped timer would have expired"),
        observed=anew,
        evidence=[carrying, sent[-1], session.last],
    )
    judge.conclude("MQQB-3.1.7.11-15")
    sent.append(session.send(peer.recoverable_message()))
    later = session.poll(
        "SessionAck",
        lambda one: one["SessionHeader"].AckSequenceNumber == received + 2,
        within_ms=delay_ms + sut.response_timeout_ms,
    )
    flagged = {"SessionHeader.RecoverableMsgAckSeqNumber": recoverable + 1, "SessionHeader.RecoverableMsgAckFlags": 1}
    judge(
        "MQQB-3.1.7.11-12",
        expected=fields(flagged),
        observed=later,
        evidence=[carrying, *sent[-2:], later],
    )
    if session.messages:
        session.acknowledge_all()


@covers("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03", "MQQB-3.1.7.11-15", "MQQB-3.1.7.1.3-23")
def test_session_header_acknowledges_express_messages_each_time(peer, sut, judge):
    """The peer sends two express messages, and later one express message on the same session. Each time, the SUT sends
    a message when the acknowledgment is nearly due. Both messages of the SUT have a SessionHeader. When the stopped
    Session Ack Send Timer would have expired, the SUT sends no SessionAck, even for a later message.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    delay_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout // 2
    for turn, count in (("first", 2), ("second", 1)):
        session.acknowledge_all()
        sent = [session.send(peer.message()) for _ in range(count)]
        known = len(session.received)
        frames = _send_message_after_packet(sender, session, sent[0], int(delay_ms * NEARLY_DUE_ACK_DELAY_FRACTION))
        acks = [frame for frame in session.received[known:] if frame.kind == "SessionAck"]
        early = [
            one for one in acks if peer.measure_duration(sent[0], one).ms < delay_ms * NOT_YET_DUE_ACK_DELAY_FRACTION
        ]
        if turn == "second":
            judge(
                "MQQB-3.1.7.11-15",
                "MQQB-3.1.7.1.3-23",
                expected=holds(
                    "the SUT sends no SessionAck when the timer that the first message stopped would expire"
                ),
                observed=not early,
                evidence=[*sent, *early],
            )
        took = peer.measure_duration(sent[0], frames[-1])
        if acks or took.ms >= delay_ms or peer.has_stalled(sent[0].time_ms, peer.recorder.elapsed_ms()):
            session.acknowledge_all()
            judge.give_up(Verdict.NOT_EXERCISED, ACKNOWLEDGMENT_NEVER_NEARLY_DUE_REASON)
            return
        judge(
            "MQQB-3.1.7.11-02",
            "MQQB-3.1.7.11-03",
            expected=holds("the message has a SessionHeader", otherwise="the message has no SessionHeader"),
            observed=has_session_header(frames),
            case=f"{turn} message when an acknowledgment is nearly due",
            evidence=[*sent, *frames],
        )
        session.acknowledge_all()
    later = session.send(peer.message())
    silent = session.stays_quiet(int(delay_ms * NOT_YET_DUE_ACK_DELAY_FRACTION), of="SessionAck")
    judge(
        "MQQB-3.1.7.11-15",
        "MQQB-3.1.7.1.3-23",
        expected=holds("the SUT sends no SessionAck when the stopped timer would have expired"),
        observed=silent or session.outcome(),
        evidence=[*frames, later, session.last],
    )


@needs("inspect")
@covers("MQQB-3.1.7.11-13", "MQQB-3.1.7.11-14")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of receipt"))
def test_data_model_has_nothing_unacknowledged_after_session_header(peer, sut, judge):
    """Twice on one session, the SUT sends a message whose SessionHeader acknowledges three messages of the peer. If the
    SUT can send a transactional message, the second message is transactional. Each time, UnackedReceivedMsgCount is 0
    afterwards, and LastAckedRecoverableMsgSeqNumber is the number of the last recoverable message.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    second = "transactional" if sut.has("send") else "express"
    if _judge_data_model_after_session_header(sender, session, judge, "express"):
        _judge_data_model_after_session_header(sender, session, judge, second)


def _judge_data_model_after_session_header(sender: Sender, session, judge, delivery: str) -> bool:
    """Let the SUT send a message whose SessionHeader acknowledges three messages; judge the data model afterwards.
    Return False if the SUT never sent such a message because the machine was too slow.
    """
    peer, sut = sender.peer, sender.sut
    delay_ms = session.received[1]["ConnectionParametersHeader"].RecoverableAckTimeout
    stalls = 0
    for _ in range(MAX_SEND_ATTEMPTS):
        session.acknowledge_all()
        sent = [session.send(make()) for make in (peer.message, peer.recoverable_message, peer.recoverable_message)]
        frames = _send_message_after_packet(
            sender, session, sent[0], int(delay_ms * NEARLY_DUE_ACK_DELAY_FRACTION), delivery=delivery
        )
        if has_session_header(frames):
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.has_stalled(sent[0].time_ms, peer.recorder.elapsed_ms())
    else:
        if stalls == MAX_SEND_ATTEMPTS:
            session.acknowledge_all()
            judge.give_up(Verdict.NOT_EXERCISED, ACKNOWLEDGMENT_NEVER_NEARLY_DUE_REASON)
            return False
        raise ConformanceFailure("no message of the SUT carried an acknowledgment")
    state, evidence = find_initiated_session(sut, sender.to), [*sent, *frames]
    judge(
        "MQQB-3.1.7.11-13",
        expected=0,
        observed=state["UnackedReceivedMsgCount"],
        case="UnackedReceivedMsgCount",
        evidence=evidence,
    )
    recoverable = sum(frame.kind == "UserMessage" and frame["UserHeader"].DM == 1 for frame in session.sent)
    judge(
        "MQQB-3.1.7.11-14",
        expected=recoverable,
        observed=state[LAST_ACKED_NUMBER_ELEMENT],
        case="LastAckedRecoverableMsgSeqNumber",
        evidence=evidence,
    )
    session.acknowledge_all()
    return True


def _send_message_after_packet(sender: Sender, session, since, after_ms: int = 0, **fields: Any):
    """Let the SUT send a message at a given time after a packet of the peer; return the packets of that message."""
    sender.peer.pass_time_until(since, after_ms)
    known = len(session.messages)
    sender.send(known + 1, **fields)
    came = sender.collect_messages(session, known + 1)[known:]
    if len(came) != 1:
        raise ConformanceFailure(f"{len(came)} packets arrived for one message of the SUT")
    return came


def has_session_header(frames) -> bool:
    """Return whether one of the packets has a SessionHeader."""
    return any(bool(frame["BaseHeader"].SH) for frame in frames)
