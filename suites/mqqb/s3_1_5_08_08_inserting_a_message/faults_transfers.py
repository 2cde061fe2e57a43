"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: what is noted of sequences that come and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, OutgoingQueue, Session
from reference_qm.surface.clock import Now

# -- IncomingTransactionalTransferInfo -----------------------------------------------------------------------------


@fault("sequence-not-noted", breaks=("MQQB-3.1.5.8.8-17", "MQQB-3.1.5.8.8-19"))
class SequenceNotNoted(InSequence):
    """No IncomingTransactionalTransferInfo is kept."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        transfer.QueueReference.IncomingTransactionalTransferInfoCollection.clear()


@fault("sequence-found-not-again", breaks="MQQB-3.1.5.8.8-18")
class SequenceNotFoundAgain(InSequence):
    """The IncomingTransactionalTransferInfo of a sequence stays as it was made."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        number = transfer.SequenceNumber
        super().accept_in_sequence(session, transfer, packet, now)
        transfer.SequenceNumber = number or transfer.SequenceNumber


@fault("sequence-at-another-queue", breaks="MQQB-3.1.5.8.8-21")
class SequenceAtAnotherQueue(InSequence):
    """The IncomingTransactionalTransferInfo is that of another queue."""

    def accept_in_sequence(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence(session, transfer, packet, now)
        transfers = transfer.QueueReference.IncomingTransactionalTransferInfoCollection
        key = next(key for key, one in transfers.items() if one is transfer)
        del transfers[key]
        next(iter(self.qm.adm.QueueCollection.values())).IncomingTransactionalTransferInfoCollection[key] = transfer


def _received(element: str, change: Callable[[Any], Any]) -> Install:
    """Note another element of the sequence of an accepted message."""

    class Received(InSequence):
        def accept_in_sequence(
            self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
        ) -> None:
            super().accept_in_sequence(session, transfer, packet, now)
            setattr(transfer, element, change(getattr(transfer, element)))

    return replace_part(Received)


for _name, _rule, _element, _change in (
    ("sequence-other-formatname", "MQQB-3.1.5.8.8-22", "FormatName", lambda old: f"{old}2"),
    (
        "sequence-other-senderidentifier",
        "MQQB-3.1.5.8.8-23",
        "SenderIdentifier",
        lambda old: type(old)(int=old.int ^ 1),
    ),
    (
        "sequence-other-sequenceidentifier",
        "MQQB-3.1.5.8.8-24",
        "SequenceIdentifier",
        lambda old: replace(old, TimeStamp=old.TimeStamp + 1),
    ),
    ("sequence-other-sequencenumber", "MQQB-3.1.5.8.8-25", "SequenceNumber", lambda old: old + 1),
    ("sequence-other-lastaccesstime", "MQQB-3.1.5.8.8-26", "LastAccessTime", lambda old: old - 3_600),
    ("sequence-other-rejectcount", "MQQB-3.1.5.8.8-27", "RejectCount", lambda old: old + 1),
):
    add(_name, _rule, f"{_element} of a sequence is another.", _received(_element, _change))


# -- OutgoingTransferInfo ------------------------------------------------------------------------------------------


def _sent(path: str) -> Install:
    """Add one to an element of the OutgoingTransferInfo."""

    class Sent(OrderAcks):
        def note_transfer(self, session: Session) -> None:
            super().note_transfer(session)
            queue = session.OutgoingQueueReference
            if queue is not None and queue.OutgoingTransferInfoReference is not None:
                info = set_fields(queue.OutgoingTransferInfoReference, {path: lambda old: old + 1})
                queue.OutgoingTransferInfoReference = info

    return replace_part(Sent)


add("transfer-not-noted", "MQQB-3.1.5.8.8-28", "No OutgoingTransferInfo is set.", skip(OrderAcks.note_transfer))
for _name, _breaks, _path in (
    ("transfer-other-eodlastacktime", "MQQB-3.1.5.8.8-29", "EodLastAckTime"),
    ("transfer-other-eodlastackcount", "MQQB-3.1.5.8.8-30", "EodLastAckCount"),
    ("transfer-other-eodnoackcount", "MQQB-3.1.5.8.8-31", "EodNoAckCount"),
    ("transfer-other-eodresendinterval", "MQQB-3.1.5.8.8-32", "EodResendInterval"),
    ("transfer-other-eodfirstnonack", "MQQB-3.1.5.8.8-33", "EodFirstNonAck.SeqNo"),
    ("transfer-other-eodlastnonack", "MQQB-3.1.5.8.8-34", "EodLastNonAck.SeqNo"),
    ("transfer-other-eodlastack", "MQQB-3.1.5.8.8-35", "EodLastAck.SeqNo"),
    ("transfer-next-other-seqid", ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-37"), "EodNextSeq.SeqID"),
    ("transfer-next-other-seqno", ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-38"), "EodNextSeq.SeqNo"),
    ("transfer-next-other-prevno", ("MQQB-3.1.5.8.8-36", "MQQB-3.1.5.8.8-39"), "EodNextSeq.PrevNo"),
    ("transfer-other-eodnoreadcount", "MQQB-3.1.5.8.8-40", "EodNoReadCount"),
    ("transfer-other-eodresendcount", "MQQB-3.1.5.8.8-41", "EodResendCount"),
    ("transfer-other-eodresendtime", "MQQB-3.1.5.8.8-42", "EodResendTime"),
):
    add(_name, _breaks, f"{_path} is one more.", _sent(_path))


def _forgotten(element: str) -> Install:
    """Forget an element of the OutgoingTransferInfo when a message is sent on."""

    class Forgotten(Routing):
        def send_on(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
            super().send_on(position, packet, now)
            queue = position.QueueReference
            assert isinstance(queue, OutgoingQueue)
            if queue.OutgoingTransferInfoReference is not None:
                queue.OutgoingTransferInfoReference = set_fields(queue.OutgoingTransferInfoReference, {element: 0})

    return replace_part(Forgotten)


for _name, _rule, _element in (
    ("transfer-forgets-lastacktime", "MQQB-3.1.5.8.8-29", "EodLastAckTime"),
    ("transfer-forgets-lastackcount", "MQQB-3.1.5.8.8-30", "EodLastAckCount"),
    ("transfer-forgets-resendinterval", "MQQB-3.1.5.8.8-32", "EodResendInterval"),
    ("transfer-forgets-noreadcount", "MQQB-3.1.5.8.8-40", "EodNoReadCount"),
    ("transfer-forgets-resendtime", "MQQB-3.1.5.8.8-42", "EodResendTime"),
):
    add(_name, _rule, f"{_element} is 0 once a transactional message was sent on.", _forgotten(_element))
