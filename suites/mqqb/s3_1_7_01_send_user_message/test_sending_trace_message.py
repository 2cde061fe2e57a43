"""MS-MQQB 3.1.7.1.7 Sending Trace Message: the report on a message that the SUT sends.

The checks of 3.1.5.8.9 judge reports on received messages.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import each, fields
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import AcknowledgingReceiver, QueueType
from suites.mqqb.steps.opening import OTHER_GUID, PEER_QUEUE_BY_HOST_NAME
from suites.mqqb.steps.tracing import TraceReportMessage
from suites.mqqb.steps.two_destinations import TwoDestinations

DELIVERY_MODES = ("express", "recoverable", "transactional")
HIGHEST_MESSAGE_ID_BIT = 0x8000_0000
ROUTED_HOP_COUNTS = (0, 11)
"""The values of RC in the messages that the SUT forwards."""


@covers(
    "MQQB-3.1.7.1.7-01",
    "MQQB-3.1.7.1.7-02",
    "MQQB-3.1.7.1.7-03",
    "MQQB-3.1.7.1.7-04",
    "MQQB-3.1.7.1.7-05",
    "MQQB-3.1.7.1-05",
    "MQQB-3.1.7.1-11",
    "MQDMPR-3.1.1.12-D06",
    "MQDMPR-3.1.1.12-D51",
    "MQDMPR-3.1.1.12-D61",
    "MQMQ-2.2.19.1-12",
)
@needs("send", "public_names")
def test_traced_message_that_is_sent_is_reported(peer, sut, judge):
    """The SUT sends an untraced message, a traced message that names an unknown report queue, traced messages of each
    delivery mode that name a report queue of the peer, and a second untraced message. The SUT sends reports only about
    the three messages that name a known report queue. Each report has the specified class, destination, label and body,
    and each message and report has its own identifier.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    to = peer.direct_name()
    sut.send(to, body="not traced", label="not traced")
    sut.send(to, body="traced elsewhere", label="traced elsewhere", trace_queue=str(OTHER_GUID))
    for delivery in DELIVERY_MODES:
        sut.send(to, body="traced", label="traced", trace_queue=str(PEER_PUBLIC_QUEUE), delivery=delivery)
    sut.send(to, body="not traced again", label="not traced again")
    reports = receiver.await_messages_of_sut(receiver.list_reports, len(DELIVERY_MODES))
    direct = [frame for frame in receiver.messages if frame not in reports]
    own = [
        frame for frame in direct if frame["BaseHeader"].TR and not _names_report_queue_other_than_that_of_peer(frame)
    ]
    evidence = [*own, *reports]
    traced = sorted({frame["BaseHeader"].TR for frame in direct})
    judge("MQMQ-2.2.19.1-12", expected=[0, 1], observed=traced, case="TR of the messages", evidence=evidence)
    judge(
        "MQQB-3.1.7.1.7-01",
        "MQQB-3.1.7.1.7-02",
        "MQQB-3.1.7.1-11",
        "MQDMPR-3.1.1.12-D61",
        expected=len(DELIVERY_MODES),
        observed=len(reports),
        case="number of reports",
        evidence=evidence,
    )
    packets = [frame for frame in peer.inbox.copies if receiver.is_report(frame)]  # of any identifier
    judge(
        "MQQB-3.1.7.1-05",
        expected=len(direct) + len({TraceReportMessage(frame).text for frame in packets}),
        observed=len({TraceReportMessage(frame).identifier for frame in (*direct, *packets)}),
        case="number of different identifiers of the messages and the reports",
        evidence=[*direct, *packets],
    )
    to_trace_queue = [frame for frame in peer.inbox.copies if "<TARGET QUEUE>" in TraceReportMessage(frame).text]
    classes = [int(frame["MessagePropertiesHeader"].MessageClass) for frame in to_trace_queue]
    sources = [str(frame["UserHeader"].SourceQueueManager) for frame in to_trace_queue]
    if to_trace_queue:
        case = "MessageClass of the reports"
        judge("MQDMPR-3.1.1.12-D06", expected=each(1, "report"), observed=classes, case=case, evidence=to_trace_queue)
        case = "SourceQueueManager of the reports"
        source = each(str(sut.guid), "report")
        judge("MQDMPR-3.1.1.12-D51", expected=source, observed=sources, case=case, evidence=to_trace_queue)
    else:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D06", "MQDMPR-3.1.1.12-D51", reason="no report arrived")
    if not own:
        raise ConformanceFailure("no message with TR arrived, so no report can be compared with it")
    bodies = [
        f"<MESSAGE ID>{message['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n<TARGET QUEUE>{to}</TARGET QUEUE>\r\n"
        f"<NEXT HOP>{peer.address}</NEXT HOP>\r\n<HOP COUNT>00</HOP COUNT>\r\n"
        for message in own
    ]
    if not reports:
        judge.mark_not_exercised(
            "MQQB-3.1.7.1.7-03", "MQQB-3.1.7.1.7-04", "MQQB-3.1.7.1.7-05", reason="no report arrived"
        )
        return
    values = fields(TraceReportMessage.build_expected_values(PEER_PUBLIC_QUEUE))
    for frame in reports:
        judge(
            "MQQB-3.1.7.1.7-03",
            expected=values,
            observed=TraceReportMessage(frame).values,
            case="attributes of the report",
            evidence=evidence,
        )
    judge(
        "MQQB-3.1.7.1.7-04",
        expected=sorted(map(TraceReportMessage.build_expected_label, own)),
        observed=sorted(TraceReportMessage(frame).label for frame in reports),
        case="labels of the reports",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.1.7-05",
        expected=sorted(map(str.lower, bodies)),
        observed=sorted(_read_body_text(frame) for frame in reports),
        case="bodies of the reports",
        evidence=evidence,
    )


def _names_report_queue_other_than_that_of_peer(frame) -> bool:
    """Return whether a traced message names a report queue that is not the queue of the peer."""
    return bool(frame["DebugHeader"].QueueIdentifier != PEER_PUBLIC_QUEUE)


def _read_body_text(frame) -> str:
    """Return the body of a report in lower case, without the space that only some systems put into it."""
    return TraceReportMessage(frame).text.replace(" </HOP COUNT>", "</HOP COUNT>").lower()


@covers(
    "MQQB-3.1.7.1-11",
    "MQQB-3.1.7.1.7-01",
    "MQQB-3.1.7.1.7-02",
    "MQQB-3.1.7.1.7-04",
    "MQQB-3.1.7.1.7-05",
    "MQDMPR-3.1.1.12-D06",
)
@needs("private_names", "public_names")
def test_traced_message_that_is_routed_is_reported(peer, sut, judge):
    """The peer sends an express and a recoverable traced message that are addressed to its own queue, with different
    hop counts. The SUT forwards each message, and sends a report with the class Report, the next hop, the source, the
    complete MessageID and the hop count of the forwarded message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    traced = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
    sent = []
    for recoverable, hops in enumerate(ROUTED_HOP_COUNTS):
        user = peer.build_fields_for_private_destination(peer.identifier, 1) | {
            "MessageID": peer.next_message_id() | HIGHEST_MESSAGE_ID_BIT
        }
        user |= {"DM": recoverable, "RC": hops}
        sent.append(receiver.send_packet(peer.message(user, destination=None, **traced)))

    def list_hop_reports() -> list[Frame]:
        return [frame for frame in receiver.list_reports() if "<NEXT HOP>" in TraceReportMessage(frame).text]

    forwarded = receiver.await_messages_of_sut(receiver.list_forwarded_messages, len(sent))
    reports = receiver.await_messages_of_sut(list_hop_reports, len(sent))
    evidence = [*sent, *forwarded, *reports]
    judge(
        "MQQB-3.1.7.1-11",
        "MQQB-3.1.7.1.7-01",
        "MQQB-3.1.7.1.7-02",
        expected=len(sent),
        observed=len(reports),
        case="number of reports with a next hop",
        evidence=evidence,
    )
    if reports:
        judge(
            "MQDMPR-3.1.1.12-D06",
            expected=each(1, "report"),
            observed=[int(frame["MessagePropertiesHeader"].MessageClass) for frame in receiver.list_reports()],
            case="MessageClass of the reports about routed messages",
            evidence=receiver.list_reports(),
        )
    else:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D06", reason="no report arrived")
    if not reports or not forwarded:
        judge.mark_not_exercised(
            "MQQB-3.1.7.1.7-04", "MQQB-3.1.7.1.7-05", reason="no report or no forwarded message arrived"
        )
        return
    judge(
        "MQQB-3.1.7.1.7-04",
        expected=sorted(map(TraceReportMessage.build_expected_label, forwarded)),
        observed=sorted(TraceReportMessage(frame).label for frame in reports),
        case="labels of the reports",
        evidence=evidence,
    )
    numbers = [(f"{one['UserHeader'].MessageID:08X}", f"{one['UserHeader'].RC:02X}") for one in forwarded]
    bodies = [_read_body_text(frame).split("\r\n") for frame in reports]
    judge(
        "MQQB-3.1.7.1.7-05",
        expected=sorted(
            [f"<message id>{number}</message id>".lower(), f"<hop count>{hops}</hop count>".lower()]
            for number, hops in numbers
        ),
        observed=sorted(
            [line for line in lines if line.startswith(("<message id>", "<hop count>"))] for lines in bodies
        ),
        case="MessageID and hop count in the bodies of the reports",
        evidence=evidence,
    )


@covers("MQQB-3.1.7.1.7-05")
@needs("send", "public_names", "two_addresses")
@varied("application tag", "label", acknowledgments=("none", "of receipt"))
def test_report_has_address_of_next_hop(peer, sut, judge):
    """The SUT sends a traced message to a host name with two addresses, the second of which belongs to the peer: the
    report contains the second address as next hop.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="traced", trace_queue=str(PEER_PUBLIC_QUEUE))
    reports = receiver.await_messages_of_sut(receiver.list_reports, 1)
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.7.1.7-05", reason="no report arrived")
        return
    hop = f"<NEXT HOP>{peer.address}</NEXT HOP>"
    lines = TraceReportMessage(reports[0]).text.split("\r\n")
    observed = next((line for line in lines if line.startswith("<NEXT HOP>")), "no next hop")
    judge("MQQB-3.1.7.1.7-05", expected=hop, observed=observed, case="next hop in the report", evidence=reports)


@covers("MQQB-3.1.7.1.7-05")
@needs("send", "public_names")
def test_each_report_has_next_hop_of_its_own_message(peer, second_host, sut, judge):
    """The SUT sends a traced message to the peer and a traced message to a second queue manager: one report contains
    the address of the peer as next hop, and the other report contains the address of the second queue manager.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((1, 1), trace_queue=str(PEER_PUBLIC_QUEUE))

    def list_trace_reports() -> list[Frame]:
        return [frame for frame in peer.inbox.messages if frame["UserHeader"].DQ == QueueType.PUBLIC]

    peer.environment.run_until(lambda: len(list_trace_reports()) >= len(two.both_destinations), sut.connect_timeout_ms)
    reports = list_trace_reports()
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.7.1.7-05", reason="no report arrived")
        return
    lines = [
        line
        for frame in reports
        for line in TraceReportMessage(frame).text.split("\r\n")
        if line.startswith("<NEXT HOP>")
    ]
    judge(
        "MQQB-3.1.7.1.7-05",
        expected=sorted(f"<NEXT HOP>{destination.peer.address}</NEXT HOP>" for destination in two.both_destinations),
        observed=sorted(lines),
        case="next hops in the reports",
        evidence=reports,
    )
    for destination in two.both_destinations:
        destination.session.acknowledge_all()
    peer.inbox.acknowledge()
