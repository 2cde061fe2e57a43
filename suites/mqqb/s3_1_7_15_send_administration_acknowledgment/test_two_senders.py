"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: two queue managers send messages at the same time."""

from __future__ import annotations

from harness.expectations import acknowledged
from harness.run.marks import covers
from suites.mqqb.steps.disposition import AcknowledgingReceiver


@covers(
    "MQQB-3.1.7.15-06",
    "MQQB-3.1.7.15-10",
    "MQQB-3.1.7.15-15",
    "MQQB-3.1.7.15-17",
    "MQQB-3.1.7.15-18",
    "MQQB-3.1.7.15-30",
    "MQQB-3.1.7.15-34",
)
def test_each_sender_receives_acknowledgments_of_its_own_messages(peer, second_host, sut, judge):
    """The peer and a second queue manager at another address each send two messages that request an acknowledgment of
    arrival at an administration queue of their own. Each receives the two acknowledgments of its own messages.
    """
    receivers = [AcknowledgingReceiver(host, sut) for host in (peer, second_host)]
    sent: dict[AcknowledgingReceiver, list] = {receiver: [] for receiver in receivers}
    for receiver in (*receivers, *receivers):
        sent[receiver].append(receiver.send_packet(receiver.build_message(properties={"PA": 1})))
    for receiver, name in zip(receivers, ("peer", "second host"), strict=True):
        came = receiver.await_acks(2)
        judge(
            "MQQB-3.1.7.15-06",
            "MQQB-3.1.7.15-10",
            "MQQB-3.1.7.15-15",
            "MQQB-3.1.7.15-17",
            "MQQB-3.1.7.15-18",
            "MQQB-3.1.7.15-30",
            "MQQB-3.1.7.15-34",
            expected=acknowledged(*sent[receiver]),
            observed=came,
            case=f"acknowledgments that arrive at the {name}",
            evidence=[*sent[receiver], *came],
        )
