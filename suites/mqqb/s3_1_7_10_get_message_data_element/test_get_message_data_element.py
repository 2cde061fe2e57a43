"""MS-MQQB 3.1.7.10 Get Message Data Element From Buffer: a received message has the properties of its packet."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from harness.run.marks import covers, needs, varied
from harness.wire import DirectQueueFormatName
from suites.messages import Sequence
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

SENT_MESSAGE_LABEL, SENT_BODY = "every property", bytes(range(256))
SAMPLE_CORRELATION_ID = bytes(range(20))
RULES_OF_MESSAGE_PROPERTIES = (
    "MQQB-3.1.7.10-03",
    "MQDMPR-3.1.7.1.31-04",
    "MQDMPR-3.1.7.1.31-D01",
    "MQDMPR-3.1.7.1.31-D02",
    "MQDMPR-3.1.7.1.31-D05",
)


@needs("receive")
@covers("MQQB-3.1.7.10-02", "MQDMPR-3.1.7.1.31-03", *RULES_OF_MESSAGE_PROPERTIES)
@pytest.mark.parametrize("queue", ["plain", "transactional"])
@varied("time to reach queue", "trace", acknowledgments=("none", "of arrival"))
def test_received_message_has_every_property_of_its_packet(peer, sut, judge, queue):
    """The peer sends a recoverable or transactional message with many properties. The message in the queue has each of
    these properties.
    """
    answers = f"TCP:{peer.address}\\private$\\mqc-answers"
    user = {
        "JN": 1,
        "TimeToBeReceived": 70_000,
        "SentTime": peer.environment.now().utc_s - 1_000,
        "RQ": 7,
        "ResponseQueue": DirectQueueFormatName(DirectFormatName=answers),
    }
    properties: dict[str, Any] = {
        "label": SENT_MESSAGE_LABEL,
        "body": SENT_BODY,
        "BodyType": 0x1011,
        "ExtensionData": b"an extension",
        "CorrelationID": SAMPLE_CORRELATION_ID,
        "ApplicationTag": 0x8000_0001,
        "base": {"PR": 6} if queue == "plain" else {"PR": 0},
    }
    if queue == "plain":
        packet = peer.recoverable_message(user, **properties)
    else:
        packet = Sequence(peer).message(user, **properties)
    done = deliver_message(peer, packet, SENT_MESSAGE_LABEL, queue)
    found = [one for one in sut.messages(queue) if one["label"] == SENT_MESSAGE_LABEL]
    identifier = f"{{{peer.identifier}}}\\{packet['UserHeader'].MessageID}"
    wanted = {
        "message_id": identifier,
        "body_base64": base64.b64encode(SENT_BODY).decode(),
        "body_type": 0x1011,
        "correlation_id": SAMPLE_CORRELATION_ID.hex(),
        "application_tag": 0x8000_0001,
        "priority": 6 if queue == "plain" else 0,
        "response_queue": f"DIRECT={answers}",
        "time_to_be_received_s": 70_000,
        "journal": ["negative"],
        "delivery": "recoverable" if queue == "plain" else "transactional",
    }
    judge(
        "MQQB-3.1.7.10-02",
        "MQDMPR-3.1.7.1.31-03",
        expected=1,
        observed=len(found),
        case="number of messages in the queue",
        evidence=done.frames,
    )
    whole = describe_differences(done.frames[0], found[0] if found else None, sut.guid)
    judge(*RULES_OF_MESSAGE_PROPERTIES, expected=UNCHANGED_PROPERTIES_OUTCOME, observed=whole, evidence=done.frames)
    shown = [name for name in wanted if found and name in found[0]]
    expected = {name: wanted[name] for name in shown}
    observed = {name: found[0][name] for name in shown} if found else "no message"
    judge(*RULES_OF_MESSAGE_PROPERTIES, expected=expected, observed=observed, evidence=done.frames)


EXTREME_MESSAGE_PROPERTIES: dict[str, dict[str, Any]] = {
    "longest label": {"label": "x" * 249, "body": b"a body"},
    "no body": {"label": "no body", "body": b"", "ExtensionData": b"an extension" * 300},
    "priority 7": {
        "label": "priority 7",
        "body": b"x",
        "base": {"PR": 7},
        "CorrelationID": SAMPLE_CORRELATION_ID,
        "ApplicationTag": 0xFFFF_FFFF,
    },
    "report": {"label": "report", "body": b"a report", "MessageClass": 1},
    "more than 1 MB": {"label": "more than 1 MB", "body": b"more than 1 MB" * 80_000},
}


@needs("receive")
@covers("MQQB-3.1.7.10-02", *RULES_OF_MESSAGE_PROPERTIES)
@pytest.mark.parametrize("extreme", EXTREME_MESSAGE_PROPERTIES)
def test_received_message_has_extreme_properties_of_its_packet(peer, sut, judge, extreme):
    """The peer sends a message with extreme properties: the longest label, a long extension and no body, priority 7,
    the class REPORT, or a body of more than 1 MB: the message in the queue has the properties of its packet.
    """
    properties = EXTREME_MESSAGE_PROPERTIES[extreme]
    label = properties["label"]
    done = deliver_message(peer, peer.recoverable_message(**properties), label)
    found = [one for one in sut.messages("plain") if one["label"][:100] == label[:100]]
    whole = describe_differences(done.frames[0], found[0] if found else None, sut.guid)
    judge.all(expected=UNCHANGED_PROPERTIES_OUTCOME, observed=whole, evidence=done.frames)


@needs("receive")
@covers("MQQB-3.1.7.10-02", "MQQB-3.1.7.10-03")
def test_equal_messages_and_message_without_label_keep_their_properties(peer, sut, judge):
    """The peer sends two messages with equal labels and bodies, and a message without a label. All three messages are
    in the queue, with the properties of their packets.
    """
    session = peer.open_raw()
    sent = [session.send(peer.recoverable_message(label=label, body=b"equal")) for label in ("equal", "equal", "")]
    identifiers = [f"{{{peer.identifier}}}\\{frame['UserHeader'].MessageID}" for frame in sent]

    def find_messages() -> dict[str, Any]:
        return {one["message_id"]: one for one in sut.messages("plain") if one["message_id"] in identifiers}

    peer.eventually(lambda: len(find_messages()) == len(sent))
    found = find_messages()
    judge(
        "MQQB-3.1.7.10-02",
        expected=len(sent),
        observed=len(found),
        case="number of messages in the queue",
        evidence=sent,
    )
    for name, frame in zip(identifiers, sent, strict=True):
        whole = describe_differences(frame, found.get(name), sut.guid)
        judge("MQQB-3.1.7.10-03", expected=UNCHANGED_PROPERTIES_OUTCOME, observed=whole, evidence=[frame])
