"""MS-MQQB 2.2.5 FinalAck Packet: two queue managers send messages that the SUT refuses."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position


@covers("MQQB-2.2.5.1-01", "MQQB-2.2.5.1-02", "MQQB-2.2.5-14")
def test_each_sender_receives_final_ack_of_its_own_message(peer, second_host, sut, judge):
    """The peer sends two transactional messages to a queue that does not exist, and a second queue manager at another
    address sends one. Each of the two senders receives the FinalAcks of its own messages.
    """
    second = Receiver(second_host, sut)  # its TxSequenceID is lower: a mix-up does not look like an earlier test
    receivers = {"peer": Receiver(peer, sut, 2), "second host": second}
    sent = {
        name: [receiver.send(destination=peer.format_name_of_missing_queue)] for name, receiver in receivers.items()
    }
    sent["peer"].append(receivers["peer"].send(destination=peer.format_name_of_missing_queue))
    for name, receiver in receivers.items():
        own, count = receiver.sequence.identifier, len(sent[name])
        receiver.poll_acknowledgment(final=True)
        peer.environment.run_until(
            lambda one=receiver, count=count: len(one.list_acknowledgments(final=True)) >= count,
            sut.response_timeout_ms,
        )
        acks = receiver.list_acknowledgments(final=True)
        judge(
            "MQQB-2.2.5-14",
            expected=count,
            observed=len(acks),
            case=f"number of FinalAcks that arrive at the {name}",
            evidence=[*sent[name], *acks],
        )
        if not acks:
            raise ConformanceFailure(f"no FinalAck arrived at the {name}")
        places = [read_acknowledged_sequence_position(ack) for ack in acks]
        foreign = [place for place in places if (place.Ordinal, place.TimeStamp) != (own.Ordinal, own.TimeStamp)]
        judge(
            "MQQB-2.2.5.1-01",
            expected=holds("the TxSequenceID of the sender's own messages"),
            observed=not foreign or f"a TxSequenceID with Ordinal {foreign[0].Ordinal}",
            case=f"FinalAcks that arrive at the {name}",
            evidence=acks,
        )
        judge(
            "MQQB-2.2.5.1-02",
            expected=list(range(1, count + 1)),
            observed=sorted(int(place.TxSequenceNumber) for place in places),
            case=f"TxSequenceNumbers of the FinalAcks that arrive at the {name}",
            evidence=acks,
        )
