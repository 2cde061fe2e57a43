"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment. The sending of a FinalAck is judged with 3.1.7.2.2."""

from __future__ import annotations

from typing import Any

from harness.expectations import holds, one_of
from harness.run.marks import covers
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.opening import guid_text
from suites.mqqb.steps.ordering import LABEL, Receiver, place


@covers(
    "MQQB-3.1.7.17-03",
    "MQQB-3.1.7.17-04",
    "MQQB-3.1.7.17-05",
    "MQQB-3.1.7.17-06",
    "MQQB-3.1.7.17-07",
    "MQQB-3.1.7.17-11",
)
def test_order_ack_and_final_ack_have_prescribed_properties(peer, sut, judge):
    """The peer sends a message that is accepted and one to a missing queue: the OrderAck and the FinalAck have their
    class, attributes, own MessageID, destination and body.
    """
    receiver = Receiver(peer, sut)
    names = []
    nowhere = peer.missing_queue
    for count, value in enumerate((AckClass.ORDER_ACK, AckClass.BAD_DST_Q), 1):
        sent = receiver.send() if value == AckClass.ORDER_ACK else receiver.send(destination=nowhere)
        frame = receiver.poll_acknowledgment(final=value != AckClass.ORDER_ACK)
        evidence = [sent, frame]
        judge(
            "MQQB-3.1.7.17-11",
            expected=holds("an acknowledgment", otherwise="no acknowledgment"),
            observed=frame is not None,
            evidence=evidence,
        )
        if frame is None:
            continue
        user, properties, found = frame["UserHeader"], frame["MessagePropertiesHeader"], place(frame)
        judge("MQQB-3.1.7.17-04", expected=value, observed=int(properties.MessageClass), evidence=evidence)
        observed = f"{_attributes(frame)}, DM {user.DM}"
        judge("MQQB-3.1.7.17-05", expected=_attributes_of(value), observed=observed, evidence=evidence)
        names.append(_identifier(frame))
        own = (
            len(set(names)) == count
            and names[-1] != _identifier(sent)
            and guid_text(user.SourceQueueManager) == guid_text(sut.guid)
        )
        judge(
            "MQQB-3.1.7.17-03",
            expected=holds("a MessageID of its own"),
            observed=bool(own) or str(names[-1]),
            evidence=evidence,
        )
        queue = str(user.DestinationQueue.DirectFormatName).lower()
        expected = rf"tcp:{peer.address}\private$\order_queue$"
        judge("MQQB-3.1.7.17-07", expected=expected, observed=queue, evidence=evidence)
        if value == AckClass.ORDER_ACK:
            identifier = receiver.sequence.identifier
            first = (identifier.Ordinal, identifier.TimeStamp, 1, 0)
            judge("MQQB-3.1.7.17-06", expected=first, observed=tuple(found), evidence=evidence)


def _identifier(frame) -> tuple[Any, int]:
    """Return the GUID and the number of a message."""
    return frame["UserHeader"].SourceQueueManager, frame["UserHeader"].MessageID


def _attributes(frame) -> str:
    """Name the attributes of an acknowledgment and their values."""
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    bits = ", ".join(f"{name} {getattr(user, name)}" for name in ("JN", "JP", "AQ", "RQ", "SH", "TH"))
    label = str(properties.Label).rstrip("\0")
    return (
        f"PR {frame['BaseHeader'].PR}, {bits}, Flags {properties.Flags}, TR {frame['BaseHeader'].TR}, "
        f"BodyType {properties.BodyType}, {label}"
    )


def _attributes_of(value):
    """Return the attributes that an acknowledgment must have, by its class: an OrderAck has one of two DM (E36)."""
    expected = f"PR 0, JN 0, JP 0, AQ 0, RQ 0, SH 0, TH 0, Flags 0, TR 0, BodyType 0, {LABEL}"
    return one_of(f"{expected}, DM 0", f"{expected}, DM 1") if value == AckClass.ORDER_ACK else f"{expected}, DM 1"
