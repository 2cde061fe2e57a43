"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the transfer information of two queues."""

from __future__ import annotations

from typing import Any

from harness.expectations import between, holds
from harness.run.marks import covers, malforms, needs
from harness.wire import TxSequenceID
from suites.messages import Sequence
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, guid_text


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers(
    "MQQB-3.1.5.8.8-17",
    "MQQB-3.1.5.8.8-18",
    "MQQB-3.1.5.8.8-19",
    "MQQB-3.1.5.8.8-21",
    "MQQB-3.1.5.8.8-22",
    "MQQB-3.1.5.8.8-23",
    "MQQB-3.1.5.8.8-24",
    "MQQB-3.1.5.8.8-26",
    "MQQB-3.1.5.8.8-27",
)
@needs("management", "receive", "queue_control")
def test_two_queues_have_transfer_infos_of_their_own_sequences(peer, sut, judge):
    """On one session, the peer sends two messages of a sequence to a queue. Then it sends a message behind a gap, and a
    message whose TxSequenceID has the same Ordinal but another TimeStamp. To a second queue, it sends the first message
    of a second sequence. Each queue has one IncomingTransactionalTransferInfo, with the values of its own sequence.
    """
    queues = [sut.new_queue(name, transactional=True) for name in ("first", "second")]
    names = [rf"TCP:{sut.address}\{queue}" for queue in queues]
    session = peer.open_raw()
    first, second = (Sequence(peer, ordinal=ordinal) for ordinal in (11, 12))
    sent = [session.send(first.message(destination=names[0], label=f"in order {number}")) for number in (1, 2)]
    other = TxSequenceID(Ordinal=first.identifier.Ordinal, TimeStamp=first.identifier.TimeStamp + 1)
    wrong = {"TxSequenceID": other, "TxSequenceNumber": 3, "PreviousTxSequenceNumber": 2}
    sent.append(session.send(first.message(destination=names[0], transaction=wrong, label="of another sequence")))
    gap = {"TxSequenceNumber": 5, "PreviousTxSequenceNumber": 4}
    sent.append(session.send(first.message(destination=names[0], transaction=gap, label="behind a gap")))
    sent.append(session.send(second.message(destination=names[1], label="in second queue")))
    peer.await_label("in second queue", queues[1])
    session.check_alive()
    peer.eventually(lambda: all(_list_incoming_transfer_infos(sut, queue) for queue in queues))
    infos = [_list_incoming_transfer_infos(sut, queue) for queue in queues]
    now_s = peer.environment.now().utc_s
    judge(
        "MQQB-3.1.5.8.8-18",
        expected=holds("not in the queue", otherwise="in the queue"),
        observed="of another sequence" not in sut.labels(queues[0]),
        case="message whose TxSequenceID has another TimeStamp",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-17",
        "MQQB-3.1.5.8.8-19",
        "MQQB-3.1.5.8.8-21",
        "MQQB-3.1.5.8.8-24",
        expected=[[first.identifier.Ordinal], [second.identifier.Ordinal]],
        observed=[[one["SequenceIdentifier"]["Ordinal"] for one in group] for group in infos],
        case="Ordinals of the SequenceIdentifiers of both queues",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-22",
        expected=[[f"direct={name}".lower()] for name in names],
        observed=[[str(one["FormatName"]).lower() for one in group] for group in infos],
        case="FormatNames of both queues",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-23",
        expected=[[str(peer.identifier)]] * 2,
        observed=[[guid_text(one["SenderIdentifier"]) for one in group] for group in infos],
        case="SenderIdentifiers of both queues",
        evidence=sent,
    )
    for name, group in zip(("first", "second"), infos, strict=True):
        for one in group:
            judge(
                "MQQB-3.1.5.8.8-26",
                expected=between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S),
                observed=one["LastAccessTime"],
                case=f"LastAccessTime of the {name} queue",
                evidence=sent,
            )
    counts = [one["RejectCount"] for one in infos[1]] or ["none"]
    judge("MQQB-3.1.5.8.8-27", expected=[0], observed=counts, case="RejectCount of the second queue", evidence=sent)
    if not any(infos):
        judge.mark_not_exercised("MQQB-3.1.5.8.8-26", reason="the SUT shows no IncomingTransactionalTransferInfo")


def _list_incoming_transfer_infos(sut: Any, queue: str) -> list[dict[str, Any]]:
    """Return IncomingTransactionalTransferInfoCollection of a queue, by path name."""
    return list(sut.control.call("get_transfers", queue=queue)["transfers"])
