"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: FinalAcks of several messages of a sequence."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import FinalAckBody
from suites.mqqb.steps.disposition import AckClass, get_message_class, receive_first_message
from suites.mqqb.steps.ordering import Receiver

NEGATIVE_CLASS_BIT = 0x8000
RECEIPT_OUTCOME, REFUSAL_OUTCOME = "received", "refused"


@needs("receive")
@covers("MQQB-3.1.7.17-03", "MQQB-3.1.7.17-04", "MQQB-3.1.7.17-D07", "MQQB-3.1.7.2.2-01")
def test_each_of_three_final_acks_has_own_values(peer, sut, judge):
    """The peer sends three messages of a sequence with JP. An application receives two of these messages, and the SUT
    refuses the third. The SUT sends three FinalAcks. Each FinalAck has its own MessageID, the number of its message in
    the body, and a class for the receipt or the refusal.
    """
    receiver = Receiver(peer, sut)
    queue = sut.queue("transactional")
    sent = [receiver.send({"JP": 1}) for _ in range(2)]
    receiver.await_acknowledgment()
    if not peer.eventually(lambda: len(sut.messages("transactional")) == len(sent)):
        raise ConformanceFailure("the messages did not arrive in their queue")
    for _ in sent:
        receive_first_message(sut, queue)
    sent.append(receiver.send(destination=peer.format_name_of_missing_queue))

    def list_final_acks():
        return receiver.list_acknowledgments(final=True, among=peer.inbox.copies)

    receiver.poll(lambda: list_final_acks()[len(sent) - 1 :], 0)
    came = list_final_acks()
    bodies = [FinalAckBody(bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in came]
    numbers = sorted({int(body.MessageID) for body in bodies})
    wanted = [int(frame["UserHeader"].MessageID) for frame in sent]
    evidence = [*sent, *came]
    judge(
        "MQQB-3.1.7.2.2-01",
        "MQQB-3.1.7.17-D07",
        expected=wanted,
        observed=numbers,
        case="numbers of the messages in the FinalAcks",
        evidence=evidence,
    )
    identifiers = {int(frame["UserHeader"].MessageID) for frame in came}
    judge(
        "MQQB-3.1.7.17-03",
        expected=len(sent),
        observed=len(identifiers),
        case="number of different MessageIDs of the FinalAcks",
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.7.2.2-01", "MQQB-3.1.7.17-D07", "MQQB-3.1.7.17-03")
    if numbers != wanted:
        raise ConformanceFailure("the FinalAcks of the three messages did not arrive")
    classes = {int(body.MessageID): get_message_class(frame) for body, frame in zip(bodies, came, strict=True)}
    judge(
        "MQQB-3.1.7.17-04",
        expected=[RECEIPT_OUTCOME, RECEIPT_OUTCOME, REFUSAL_OUTCOME],
        observed=[_describe_whether_class_reports_receipt(classes[number]) for number in wanted],
        case="classes of the FinalAcks",
        evidence=evidence,
    )


def _describe_whether_class_reports_receipt(value: int) -> str:
    """Return a text that states whether a class reports a receipt or a refusal of the message."""
    if value == AckClass.RECEIVE:
        return RECEIPT_OUTCOME
    return REFUSAL_OUTCOME if value & NEGATIVE_CLASS_BIT else f"class 0x{value:04X}"
