"""MS-MQDMPR 3.1.1.12 Message: the attributes of messages that are sent again, of the copies for several queues, and of
messages after a restart.
"""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, between, each, holds, one_of
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB
from harness.wire.protection import SIG30, is_signature
from suites.mqdmpr.s3_1_1_12_message.default_attributes import DEFAULT_FIELDS_BY_RULE, judge_default_fields
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender

AUTHENTICATION_LEVELS = (0, 1, 3, 5, 9)
"""The values of AuthenticationLevel None, Sig10, Sig20, Sig30 and XmlSig (MS-MQMQ 2.2.20.6)."""
LONGEST_LABEL_LENGTH, LONGEST_LABEL_WCHARS = 249, 250
THIRD_QUEUE_MANAGER_GUID = "6d71636f-6e66-4f72-8d00-0000000000c3"
TRACE_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000c4"


@needs("send", "security", "private_names")
@covers("MQDMPR-3.1.1.12-09")
def test_authentication_level_of_each_secured_message_is_defined(peer, sut, judge):
    """The SUT sends messages that are encrypted, signed, both, or signed and addressed to several queues: the
    AuthenticationLevel of each message has a defined value.
    """
    private = private_name(peer.identifier)
    several = f"{peer.direct_name('mqc-first')},{peer.direct_name('mqc-second')}"
    cases = {
        "encrypted": (private, {"privacy_level": "base"}),
        "signed": (private, {"authentication_level": "sig10"}),
        "signed and encrypted": (private, {"authentication_level": "sig20", "privacy_level": "enhanced"}),
    }
    if sut.has("several_queues"):
        cases["signed for several queues"] = (several, {"authentication_level": "sig30"})
    outgoing = MessagesSentBySut(peer, sut, private)
    for case, (to, properties) in cases.items():
        if to != outgoing.sender.to:
            outgoing.start_new_session()
            outgoing.sender.to = to
        frame = outgoing.send(body=case, **properties)
        level = Layout(frame).fields.get("SecurityHeader.Flags.AS", ABSENT_FIELD)
        judge(
            "MQDMPR-3.1.1.12-09",
            expected=one_of(*(str(value) for value in AUTHENTICATION_LEVELS)),
            observed=str(level),
            case=f"AuthenticationLevel of a message ({case})",
            evidence=frame,
        )
    peer.settle()
    outgoing.end()


@needs("send")
@covers("MQDMPR-3.1.1.12-45")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("several queues", marks=needs("several_queues")),
        pytest.param("transaction", marks=needs("transactions")),
    ],
)
def test_label_limit_applies_to_several_queues_and_transactions(peer, sut, judge, place):
    """Applications of the SUT send messages with labels of 249 and 250 characters to several queues, or in a
    transaction. No message that the SUT sends has a label of more than 249 characters.
    """
    names = ("mqc-label-1", "mqc-label-2") if place == "several queues" else (f"mqc-{sut.own}-label",)
    sender = Sender(peer, sut, ",".join(map(peer.direct_name, names)))
    for number in (LONGEST_LABEL_LENGTH, LONGEST_LABEL_LENGTH + 1):
        with suppress(ControlRefused):
            if place == "several queues":
                sender.send(number, label="x" * number)
                continue
            transaction = sut.control.call("begin")["transaction"]
            try:
                sender.send(number, label="x" * number, transaction=transaction)
            finally:
                sut.control.call("commit", transaction=transaction)
    tags = (LONGEST_LABEL_LENGTH, LONGEST_LABEL_LENGTH + 1)
    frames = [
        frame for frame in _await_packets_until_silence(peer, sut, len(names)) if Sender.list_tags([frame])[0] in tags
    ]
    for frame in frames:
        judge(
            "MQDMPR-3.1.1.12-45",
            expected=between(0, LONGEST_LABEL_WCHARS),
            observed=int(frame["MessagePropertiesHeader"].LabelLength),
            case="WCHARs of the label, with its terminating null",
            evidence=frame,
        )


def _await_packets_until_silence(peer, sut, count):
    """Wait for messages of the SUT and then for silence; return all packets that arrived, and acknowledge them."""
    inbox = peer.inbox
    within_ms = sut.connect_timeout_ms + sut.response_timeout_ms
    peer.environment.run_until(lambda: len(inbox.packets_with_possibly_malformed_messages) >= count, within_ms)
    inbox.acknowledge()
    peer.pass_time(sut.quiet_ms)
    inbox.acknowledge()
    if len(inbox.packets_with_possibly_malformed_messages) < count:
        raise ConformanceFailure(
            f"{len(inbox.packets_with_possibly_malformed_messages)} of at least {count} messages arrived"
        )
    return list(inbox.packets_with_possibly_malformed_messages)


@needs("send", "restart")
@covers(*DEFAULT_FIELDS_BY_RULE)
def test_message_after_restart_has_default_attributes(peer, sut, judge):
    """After a restart, the SUT sends a message for which the application sets only the destination: the SUT sets each
    other attribute to its default.
    """
    sut.restart()
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(time_to_reach_queue_s=None)
    outgoing.end()
    judge_default_fields(judge, frame, DEFAULT_FIELDS_BY_RULE)


@needs("send", "security", "several_queues", "send_extension")
@covers("MQDMPR-3.1.1.12-30")
@pytest.mark.parametrize("signer", [ALICE, BOB], ids=["first user", "second user"])
def test_signature_for_several_queues_covers_all_properties(peer, sut, judge, signer):
    """The SUT sends a signed message with an extension, a response queue and a correlation identifier to one queue and
    then to several queues. If the signature of the first message is valid, so is that of each copy of the second.
    """
    first, second = peer.direct_name("mqc-signed-1"), peer.direct_name("mqc-signed-2")
    properties = {
        "body": "signed",
        "label": "signed",
        "extension_base64": b64encode(b"signed extension").decode(),
        "correlation_id": bytes(range(1, 21)).hex(),
        "response_queue": peer.direct_name("mqc-answers"),
        "authentication_level": "sig30",
        "sender": signer.name,
    }
    outgoing = MessagesSentBySut(peer, sut, first)
    plain = outgoing.send(**{**properties, "extension_base64": ""})
    if not _is_message_to_several_queues_signed_by_user(plain, signer):
        raise ConformanceFailure("the signature of a message without an extension is not valid (E81)")
    outgoing.start_new_session()
    known = len(peer.inbox.packets_with_possibly_malformed_messages)
    sut.send(f"{first},{second}", **properties)
    copies = _await_packets_until_silence(peer, sut, known + 2)[known:]
    judge(
        "MQDMPR-3.1.1.12-30",
        expected=each(True, "MultipleDestinationSignature"),
        observed=[_is_message_to_several_queues_signed_by_user(frame, signer) for frame in copies],
        case="whether the user's key verifies the signature of each copy",
        evidence=copies,
    )


def _is_message_to_several_queues_signed_by_user(frame, signer):
    value = bytes(frame["MultiQueueFormatHeader"].Signature.Signature) if frame["UserHeader"].MQ else b""
    return bool(value) and is_signature(value, frame.data, SIG30, signer.certificate)


@needs("send", "several_queues")
@covers("MQDMPR-3.1.1.12-54")
@pytest.mark.parametrize("kind", ["direct", "private", "public"])
def test_copies_for_several_queues_have_administration_queue(peer, sut, judge, kind):
    """The SUT sends a message with an administration queue to two queues: each copy shows the kind of the format name
    of the administration queue.
    """
    names = {
        "direct": (peer.direct_name("mqc-admin"), 7),
        "private": (f"PRIVATE={THIRD_QUEUE_MANAGER_GUID}\\00000011", 6),
        "public": (f"PUBLIC={TRACE_QUEUE_GUID}", 5),
    }
    admin, expected = names[kind]
    sender = Sender(peer, sut, f"{peer.direct_name('mqc-first')},{peer.direct_name('mqc-second')}")
    sender.send(1, acks=["positive_arrival"], admin_queue=admin)
    for frame in _await_packets_until_silence(peer, sut, 2):
        found = Layout(frame).fields
        listed = found.get("MultiQueueFormatHeader.Administration.ElementCount", 0)
        observed = found.get("UserHeader.Flags.AQ")
        judge(
            "MQDMPR-3.1.1.12-54",
            expected=expected,
            observed=expected if listed and not observed else observed,
            case=f"AQ of a copy with a {kind} administration queue",
            evidence=frame,
        )


@covers("MQDMPR-3.1.1.12-D32")
def test_acknowledgments_have_no_tracing_queue(peer, sut, judge):
    """The SUT acknowledges the arrival of an express and a recoverable message that are not traced: the
    acknowledgments name no tracing queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    for delivery_mode in (0, 1):
        receiver.send_packet(receiver.build_message({"DM": delivery_mode}, properties={"PA": 1}))
    acks = receiver.await_acks(2)
    if not acks:
        raise ConformanceFailure("the SUT acknowledged none of the messages")
    for frame in acks:
        tracing = {"DebugHeader.QueueIdentifier": ABSENT_FIELD}
        judge("MQDMPR-3.1.1.12-D32", expected=tracing, observed=Layout(frame).of(*tracing), evidence=frame)
    receiver.acknowledge_all()


@needs("send", "several_queues")
@covers("MQDMPR-3.1.1.12-27")
def test_copy_that_is_sent_again_names_its_own_queue(peer, sut, judge):
    """The SUT sends a message to two queues on a session that ends before the peer acknowledges the copies. Each copy
    that the SUT sends, also the repeated ones, names one of the two queues as its destination.
    """
    queues = [peer.direct_name(name) for name in ("mqc-again-1", "mqc-again-2")]
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1, delivery="recoverable")
    inbox = peer.inbox
    peer.environment.run_until(
        lambda: len(inbox.packets_with_possibly_malformed_messages) >= 2,
        sut.connect_timeout_ms + sut.response_timeout_ms,
    )
    first = list(inbox.packets_with_possibly_malformed_messages)
    for session in {id(one.connection): inbox.conversation(one) for one in first}.values():
        if session.record.closed_by is None:
            session.close()
    peer.environment.run_until(
        lambda: len(inbox.packets_with_possibly_malformed_messages) >= len(first) + 2, 2 * sut.connect_timeout_ms
    )
    again = list(inbox.packets_with_possibly_malformed_messages[len(first) :])
    inbox.acknowledge()
    if not again:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-27", reason="the SUT did not send the copies again")
        return
    own = [name.partition("=")[2].lower() for name in queues]
    judge(
        "MQDMPR-3.1.1.12-27",
        expected=each(holds("one of the two queues"), "copy"),
        observed=[_get_destination_queue_name(frame) in own or _get_destination_queue_name(frame) for frame in again],
        case="DestinationQueue of the repeated copies",
        evidence=again,
    )


def _get_destination_queue_name(frame):
    text = str(Layout(frame).fields.get("UserHeader.DestinationQueue", "nothing"))
    return text.rstrip("\0").lower().removeprefix("direct=")


@needs("send", "transactions")
@covers("MQDMPR-3.1.1.12-D58", "MQDMPR-3.1.1.12-D59")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_repeated_messages_have_same_place_in_transaction(peer, sut, judge, external):
    """The SUT sends three messages in a transaction on a session that ends before the peer acknowledges them. In each
    of the messages that the SUT sends again, FM and LM are as they were.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-{sut.own}-again-{int(external)}"))
    transaction = sut.control.call("begin", external=external)["transaction"]
    for tag in (1, 2, 3):
        sender.send(tag, transaction=transaction)
    if external:
        sut.control.call("prepare", transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(3)
    session.close()
    later = sender.await_session()
    again = sender.collect_messages_until_silence(later, 3)
    later.acknowledge_all()
    marks = {1: (1, 0), 2: (0, 0), 3: (0, 1)}
    for number, (rule, bit) in enumerate((("MQDMPR-3.1.1.12-D58", "FM"), ("MQDMPR-3.1.1.12-D59", "LM"))):
        judge(
            rule,
            expected=any_order(*([tag, values[number]] for tag, values in marks.items())),
            observed=[
                [Sender.list_tags([frame])[0], Layout(frame).fields.get(f"TransactionHeader.Flags.{bit}")]
                for frame in again
            ],
            case=f"ApplicationTag and {bit} of each repeated message",
            evidence=[*sent, *again],
        )
