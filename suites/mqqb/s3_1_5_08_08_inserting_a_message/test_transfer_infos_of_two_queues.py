"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the transfer information of incoming sequences."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import any_order, between, holds, one_of
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import TxSequenceID
from suites.messages import Sequence
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S, OTHER_GUID, format_guid

DELAY_BEFORE_MESSAGE_TO_SECOND_QUEUE_MS = 1_100
"""The time before the message to the second queue, after which a clock in seconds shows a later second."""
DAY_S = 86_400
HIGH_FIRST_NUMBER = 0x1_0005
"""The TxSequenceNumber of the first message of a sequence; it does not fit into 16 bits."""
NUMBERS_OF_SEQUENCE_WITH_HIGH_FIRST = (HIGH_FIRST_NUMBER, HIGH_FIRST_NUMBER - 1, 0)
"""The values of SequenceNumber that the readings of E75 allow after the first message of that sequence: its number, the
number before, and its PreviousTxSequenceNumber.
"""


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers(
    "MQQB-3.1.5.8.8-17",
    "MQQB-3.1.5.8.8-18",
    "MQQB-3.1.5.8.8-19",
    "MQQB-3.1.5.8.8-21",
    "MQQB-3.1.5.8.8-22",
    "MQQB-3.1.5.8.8-23",
    "MQQB-3.1.5.8.8-24",
    "MQQB-3.1.5.8.8-25",
    "MQQB-3.1.5.8.8-26",
    "MQQB-3.1.5.8.8-27",
)
@needs("management", "receive", "queue_control")
def test_two_queues_have_transfer_infos_of_their_own_sequences(peer, sut, judge):
    """On one session, the peer sends two messages of a sequence to a queue. Then it sends a message after a gap in this
    sequence, and a message whose TxSequenceID has the same Ordinal but a different TimeStamp. To a second queue, it
    sends the first message of a second sequence more than a second later. That message has a high TxSequenceNumber and
    a SentTime of the day before. Each queue has one IncomingTransactionalTransferInfo, with the values of its own
    sequence.
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
    peer.pass_time(DELAY_BEFORE_MESSAGE_TO_SECOND_QUEUE_MS)
    yesterday = {"SentTime": peer.environment.now().utc_s - DAY_S}
    late = {"TxSequenceNumber": HIGH_FIRST_NUMBER, "PreviousTxSequenceNumber": 0}
    packet = second.message(yesterday, destination=names[1], transaction=late, label="in second queue")
    sent.append(session.send(packet))
    peer.await_label("in second queue", queues[1])
    session.require_session_ack_for_message()
    peer.eventually(lambda: all(_list_incoming_transfer_infos(sut, queue) for queue in queues))
    infos = [_list_incoming_transfer_infos(sut, queue) for queue in queues]
    now_s = peer.environment.now().utc_s
    judge(
        "MQQB-3.1.5.8.8-18",
        expected=holds("not in the queue", otherwise="in the queue"),
        observed="of another sequence" not in sut.labels(queues[0]),
        case="message whose TxSequenceID has a different TimeStamp",
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
        observed=[[format_guid(one["SenderIdentifier"]) for one in group] for group in infos],
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
    if all(infos):
        accessed = [group[0]["LastAccessTime"] for group in infos]
        judge(
            "MQQB-3.1.5.8.8-26",
            expected=holds("later than that of the first queue", otherwise="not later than that of the first queue"),
            observed=accessed[1] > accessed[0],
            case="LastAccessTime of the second queue",
            evidence=sent,
        )
    for name, group, allowed in zip(
        ("first", "second"), infos, ((1, 2), NUMBERS_OF_SEQUENCE_WITH_HIGH_FIRST), strict=True
    ):
        judge(
            "MQQB-3.1.5.8.8-25",
            expected=one_of(*allowed),
            observed=group[0]["SequenceNumber"] if group else "none",
            case=f"SequenceNumber of the {name} queue",
            evidence=sent,
        )
    counts = [one["RejectCount"] for one in infos[1]] or ["none"]
    judge("MQQB-3.1.5.8.8-27", expected=[0], observed=counts, case="RejectCount of the second queue", evidence=sent)
    if not any(infos):
        judge.mark_not_exercised("MQQB-3.1.5.8.8-26", reason="the SUT shows no IncomingTransactionalTransferInfo")


def _list_incoming_transfer_infos(sut: Any, queue: str) -> list[dict[str, Any]]:
    """Return IncomingTransactionalTransferInfoCollection of a queue, by path name."""
    return list(sut.control.call("get_transfers", queue=queue)["transfers"])


@covers("MQQB-3.1.5.8.8-18", "MQQB-3.1.5.8.8-21", "MQQB-3.1.5.8.8-24")
@needs("management", "receive", "queue_control")
def test_sequences_to_one_queue_are_found_by_their_identifiers(peer, second_host, sut, judge):
    """To one queue, the peer sends two messages of a sequence to the direct name, and the first message of a sequence
    whose TxSequenceID has the same TimeStamp. Then a second sender sends a sequence with a lower TxSequenceID, and a
    third sender sends such a sequence to the private name. The SUT puts the first message of each sequence into the
    queue, and the queue has an IncomingTransactionalTransferInfo for each.
    """
    queue = sut.new_queue("shared", transactional=True)
    name = rf"TCP:{sut.address}\{queue}"
    low, lowest, first, newer = (Sequence(peer, ordinal=ordinal) for ordinal in (3, 2, 9, 10))
    for one in (low, lowest, newer):
        one.identifier = TxSequenceID(
            Ordinal=first.identifier.Ordinal + (1 if one is newer else -1 if one is low else -2),
            TimeStamp=first.identifier.TimeStamp,
        )
    session = peer.open_raw()
    sent = [session.send(first.message(destination=name, label=f"of first sequence {number}")) for number in (1, 2)]
    peer.await_label("of first sequence 2", queue)
    of_second, of_third = ({"SourceQueueManager": one} for one in (second_host.identifier, OTHER_GUID))
    private = of_third | peer.build_fields_for_private_name_of_sut_queue(queue)
    for label, open_session, packet in (
        ("of newer sequence", lambda: session, newer.message(destination=name, label="of newer sequence")),
        ("of second sender", second_host.open_raw, low.message(of_second, destination=name, label="of second sender")),
        (
            "of third sender",
            lambda: peer.open_raw({"ClientGuid": OTHER_GUID}),
            lowest.message(private, destination=None, label="of third sender"),
        ),
    ):
        sent.append(open_session().send(packet))
        peer.settle()
        peer.eventually(lambda label=label: label in sut.labels(queue))
        judge(
            "MQQB-3.1.5.8.8-18",
            expected=holds("in the queue", otherwise="not in the queue"),
            observed=label in sut.labels(queue),
            case=f"first message {label}",
            evidence=sent,
        )
    infos = [one["SequenceIdentifier"] for one in _list_incoming_transfer_infos(sut, queue)]
    for sequence, case in (
        (newer, "newer sequence"),
        (low, "sequence of second sender"),
        (lowest, "sequence of third sender"),
    ):
        judge(
            "MQQB-3.1.5.8.8-21",
            "MQQB-3.1.5.8.8-24",
            expected=holds("at the queue", otherwise="not at the queue"),
            observed={"Ordinal": sequence.identifier.Ordinal, "TimeStamp": sequence.identifier.TimeStamp} in infos,
            case=f"IncomingTransactionalTransferInfo, {case}",
            evidence=sent,
        )


@covers(
    "MQQB-3.1.5.8.8-17",
    "MQQB-3.1.5.8.8-19",
    "MQQB-3.1.5.8.8-21",
    "MQQB-3.1.5.8.8-22",
    "MQQB-3.1.5.8.8-23",
    "MQQB-3.1.5.8.8-24",
    "MQQB-3.1.5.8.8-27",
)
@needs("management", "queues", "receive", "queue_control")
def test_sequences_of_two_senders_have_their_own_transfer_infos(peer, sut, judge):
    """Two queue managers each send the first message of a sequence to one queue, one of them to its direct name and the
    other to its private name. The queue has an IncomingTransactionalTransferInfo with the values of each sequence.
    """
    name, senders, sent, names = sut.queue("transactional"), {}, [], []
    for ordinal, sender in ((8, peer.identifier), (9, OTHER_GUID)):
        session, sequence = peer.open_raw({"ClientGuid": sender}), Sequence(peer, ordinal=ordinal)
        senders[sequence.identifier.Ordinal] = str(sender)
        user: dict[str, Any] = {"SourceQueueManager": sender}
        rest: dict[str, Any] = {}
        names.append(sut.format_name("transactional").lower())
        if sender == OTHER_GUID:
            user, rest = user | peer.build_fields_for_private_name_of_sut_queue(name), {"destination": None}
            names[-1] = sut.private_format_name(name).lower()
        sent.append(session.send(sequence.message(user, label=f"from {ordinal}", **rest)))
        peer.await_label(f"from {ordinal}", name)
    infos = {one["SequenceIdentifier"]["Ordinal"]: one for one in _list_incoming_transfer_infos(sut, name)}
    judge(
        "MQQB-3.1.5.8.8-17",
        "MQQB-3.1.5.8.8-21",
        "MQQB-3.1.5.8.8-24",
        expected=any_order(*senders),
        observed=list(infos),
        case="Ordinals of the SequenceIdentifiers",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-22",
        expected=names,
        observed=[str(infos[one]["FormatName"]).lower() if one in infos else "none" for one in senders],
        case="FormatNames",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-19",
        "MQQB-3.1.5.8.8-23",
        expected=list(senders.values()),
        observed=[format_guid(infos[one]["SenderIdentifier"]) if one in infos else "none" for one in senders],
        case="SenderIdentifiers",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.5.8.8-27",
        expected=[0, 0],
        observed=[infos[one]["RejectCount"] if one in infos else "none" for one in senders],
        case="RejectCounts",
        evidence=sent,
    )


@covers(
    "MQQB-3.1.5.8.8-17",
    "MQQB-3.1.5.8.8-18",
    "MQQB-3.1.5.8.8-19",
    "MQQB-3.1.5.8.8-21",
    "MQQB-3.1.5.8.8-22",
    "MQQB-3.1.5.8.8-23",
    "MQQB-3.1.5.8.8-24",
    "MQQB-3.1.5.8.8-25",
    "MQQB-3.1.5.8.8-26",
    "MQQB-3.1.5.8.8-27",
)
@needs("management", "queues", "receive")
@varied("acknowledgments", "extension", "correlation", "body", "queue journaling", "queue quota")
def test_queue_has_one_transfer_info_for_sequence_of_messages(peer, sut, judge):
    """The peer sends two messages of a sequence. The queue has one IncomingTransactionalTransferInfo, with the values
    of the sequence.
    """
    name = sut.queue("transactional")
    session = peer.open_raw()
    sequence = Sequence(peer, ordinal=7)
    found = []
    for number in (1, 2):
        sent = session.send(sequence.message(label=f"in sequence {number}"))
        peer.await_label(f"in sequence {number}", name)
        peer.pass_time(sut.quiet_ms // 10)
        found.append(
            [
                one
                for one in _list_incoming_transfer_infos(sut, name)
                if one["SequenceIdentifier"]["Ordinal"] == sequence.identifier.Ordinal
            ]
        )
    counts = [len(group) for group in found]
    judge(
        "MQQB-3.1.5.8.8-17",
        "MQQB-3.1.5.8.8-19",
        "MQQB-3.1.5.8.8-21",
        expected=[1, 1],
        observed=counts,
        case="number of IncomingTransactionalTransferInfos after each message",
        evidence=[sent],
    )
    judge(
        "MQQB-3.1.5.8.8-18",
        expected=[1, 1],
        observed=counts,
        case="number of IncomingTransactionalTransferInfos after each message",
        evidence=[sent],
    )
    if counts != [1, 1]:
        raise ConformanceFailure("the SUT does not show exactly one IncomingTransactionalTransferInfo for the sequence")
    first, second = found[0][0], found[1][0]
    judge(
        "MQQB-3.1.5.8.8-18",
        expected=2,
        observed=second["SequenceNumber"],
        case="SequenceNumber after the second message",
        evidence=[sent],
    )
    identifier = {"Ordinal": sequence.identifier.Ordinal, "TimeStamp": sequence.identifier.TimeStamp}
    now_s = peer.environment.now().utc_s
    for rule, element, expected, observed in (
        ("MQQB-3.1.5.8.8-22", "FormatName", sut.format_name("transactional").lower(), str(first["FormatName"]).lower()),
        ("MQQB-3.1.5.8.8-23", "SenderIdentifier", str(peer.identifier), format_guid(first["SenderIdentifier"])),
        ("MQQB-3.1.5.8.8-24", "SequenceIdentifier", identifier, first["SequenceIdentifier"]),
        ("MQQB-3.1.5.8.8-25", "SequenceNumber", one_of(0, 1), first["SequenceNumber"]),
        (
            "MQQB-3.1.5.8.8-26",
            "LastAccessTime",
            between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S),
            first["LastAccessTime"],
        ),
        ("MQQB-3.1.5.8.8-27", "RejectCount", 0, first["RejectCount"]),
    ):
        judge(rule, expected=expected, observed=observed, case=element, evidence=[sent])
