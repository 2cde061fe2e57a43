"""MS-MQQB 2.2.5 FinalAck Packet: FinalAcks of messages with further properties, of messages with an unknown provider,
and FinalAcks that a lost session did not deliver.
"""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class, one_of
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import ProviderInfo
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, receive_first_message
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.secured import SecuredMessageSender, sign_message

UNKNOWN_PROVIDER_INFO = bytes(ProviderInfo(ProviderType=1, ProviderName="Contoso Cryptographic Provider"))
POSITIVE_AND_NEGATIVE_RECEIVE_ACK_REQUESTS = {"PR": 1, "NR": 1}


def _receive_in_transaction(sut, queue: str) -> None:
    """Let an application receive the first message of a queue in a transaction, and commit the transaction."""
    transaction = sut.control.call("begin")["transaction"]
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.control.call("commit", transaction=transaction)


@needs("receive", "transactions")
@covers("MQQB-2.2.5-01", "MQQB-2.2.5-10", "MQQB-2.2.5-11", "MQQB-2.2.5-23")
def test_final_ack_copies_no_property_of_its_message(peer, sut, judge):
    """The peer sends two traced transactional messages that request acknowledgments of their receipt, and that set JN
    and JP, or only JN. An application receives the first one in a transaction and the second one without a transaction.
    Both FinalAcks have the class ACK_RECEIVE, no flags and BodyType VT_EMPTY.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [
        receiver.session.send(
            receiver.sequence.message(
                receiver.add_admin_queue_fields(journaling),
                base={"TR": 1},
                debug={"QueueIdentifier": PEER_PUBLIC_QUEUE},
                properties=POSITIVE_AND_NEGATIVE_RECEIVE_ACK_REQUESTS,
            )
        )
        for journaling in ({"JN": 1, "JP": 1}, {"JN": 1})
    ]
    receiver.await_last_acknowledgment(len(sent))
    queue = sut.queue("transactional")
    if not peer.eventually(lambda: len(sut.messages("transactional")) == len(sent)):
        raise ConformanceFailure("the SUT did not put the messages into their queue")
    for receive, message in ((_receive_in_transaction, sent[0]), (receive_first_message, sent[1])):
        known = len(receiver.list_final_acks())
        receive(sut, queue)
        frame = receiver.poll(receiver.list_final_acks, known)
        if frame is None:
            raise ConformanceFailure("no FinalAck arrived for a message that an application received")
        evidence, properties = [message, frame], frame["MessagePropertiesHeader"]
        case = "first message" if message is sent[0] else "second message"
        judge(
            "MQQB-2.2.5-11",
            expected=acknowledgment_of_class(AckClass.RECEIVE),
            observed=frame,
            case=f"class of the FinalAck of the {case}",
            evidence=evidence,
        )
        for rule, name, value in (
            ("MQQB-2.2.5-01", "BaseHeader.Flags", int(frame["BaseHeader"].Flags)),
            ("MQQB-2.2.5-10", "MessagePropertiesHeader.Flags", int(properties.Flags)),
            ("MQQB-2.2.5-23", "BodyType", int(properties.BodyType)),
        ):
            judge(rule, expected=0, observed=value, case=f"{name} of the FinalAck of the {case}", evidence=evidence)
    receiver.await_acks(len(sent))  # acknowledgments that arrive later would remain in the SUT
    receiver.acknowledge_all()


@covers("MQQB-2.2.5-03")
def test_final_ack_after_lost_session_is_recoverable(peer, sut, judge):
    """The SUT refuses a transactional message, and the peer closes the session without a SessionAck of the FinalAck.
    DM is 1 in the FinalAck that the SUT sends on another session.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send(destination=peer.format_name_of_missing_queue)
    first = receiver.await_acknowledgment(final=True)
    arrived_on = peer.inbox.conversation(first)
    known = len(peer.inbox.copies)
    arrived_on.close()

    def list_further_copies():
        return receiver.list_acknowledgments(final=True, among=peer.inbox.copies[known:])

    peer.environment.run_until(lambda: bool(list_further_copies()), sut.connect_timeout_ms + sut.response_timeout_ms)
    again = list_further_copies()
    if not again:
        judge.mark_not_exercised("MQQB-2.2.5-03", reason="the SUT sent no FinalAck again", evidence=[first])
        return
    judge(
        "MQQB-2.2.5-03",
        expected=1,
        observed=int(again[0]["UserHeader"].DM),
        case="DM of the FinalAck on another session",
        evidence=[sent, first, again[0]],
    )
    peer.inbox.acknowledge()


@needs("security", "receive", "private_names")
@covers("MQQB-2.2.5-17")
def test_each_refusal_of_unknown_provider_has_its_class(peer, sut, judge):
    """The peer sends messages that name an unknown provider, to a direct and to a private format name: the first two
    messages of a sequence to each name. The FinalAck of each message has the class for this reason. A SUT may accept an
    unknown provider (erratum E84).
    """
    secured = SecuredMessageSender(peer, sut)
    secured.open_another_session()
    private = peer.build_fields_for_private_name_of_sut_queue(sut.queue("transactional"))
    packets: dict[str, Any] = {}
    cases: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("direct", {}, {}),
        ("private", private, {"destination": None}),
    )
    for name, header, rest in cases:
        sequence = secured.create_sequence()
        for number in (1, 2):
            message = secured.message(
                queue="transactional",
                sequence=sequence,
                header=header,
                security={"DE": 0, "ProviderInfo": UNKNOWN_PROVIDER_INFO},
                **rest,
            )
            packets[f"message {number} to a {name} name"] = sign_message(message)
    for case, disposition in secured.send_and_read_dispositions(packets, "transactional").items():
        judge(
            "MQQB-2.2.5-17",
            expected=one_of("NACK_UNSUPPORTED_CRYPTO_PROVIDER", "no FinalAck"),
            observed=disposition.final,
            case=f"class of the FinalAck of {case}",
            evidence=disposition.frames,
        )
