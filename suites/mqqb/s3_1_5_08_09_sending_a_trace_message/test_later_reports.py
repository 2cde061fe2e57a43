"""MS-MQQB 3.1.5.8.9 Sending a Trace Message: later reports, and reports to a second or an unknown queue."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import DEAD_LETTERS, AcknowledgingReceiver, QueueType
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.tracing import TraceReportMessage

MESSAGES_LIMIT = 1_000
"""The number of messages that the check reads from each dead-letter queue."""
CONTENT_FIELDS_OF_TRACED_MESSAGE: dict[str, Any] = {"ApplicationTag": 0xC0FF_EE01, "ExtensionData": b"an extension"}


def _build_traced_message(receiver: AcknowledgingReceiver, queue: UUID = PEER_PUBLIC_QUEUE, **content: Any) -> Any:
    return receiver.build_message(base={"TR": 1}, debug={"QueueIdentifier": queue}, **content)


@covers("MQQB-3.1.5.8.9-02", "MQQB-3.1.5.8.9-11")
@needs("public_names")
def test_report_is_sent_after_end_of_session_of_earlier_report(peer, sut, judge):
    """The SUT sends a report, and the peer closes the session on which it arrived. Then the peer sends a second traced
    message: the SUT sends a second report. The reports have no content of the traced messages.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [receiver.send_packet(_build_traced_message(receiver, **CONTENT_FIELDS_OF_TRACED_MESSAGE))]
    reports = receiver.await_messages_of_sut(receiver.list_reports, 1)
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.5.8.9-02", reason="no report arrived")
        judge("MQQB-3.1.5.8.9-11", expected=1, observed=0, case="number of reports", evidence=sent)
        return
    peer.inbox.acknowledge()
    carrier = peer.inbox.conversation(reports[0])
    if carrier is receiver.session:
        receiver.session = peer.open_raw()
    carrier.close()
    peer.settle()
    sent.append(receiver.send_packet(_build_traced_message(receiver, **CONTENT_FIELDS_OF_TRACED_MESSAGE)))
    reports = receiver.await_messages_of_sut(receiver.list_reports, 2)
    evidence = [*sent, *reports]
    counts = [sum(TraceReportMessage(report).is_about_message(one) for report in reports) for one in sent]
    judge("MQQB-3.1.5.8.9-11", expected=[1, 1], observed=counts, case="number of reports", evidence=evidence)
    for report in reports:
        properties = report["MessagePropertiesHeader"]
        judge(
            "MQQB-3.1.5.8.9-02",
            expected=none("property of the traced message in the report"),
            observed=[
                name
                for name, value in (
                    ("ApplicationTag", int(properties.ApplicationTag)),
                    ("ExtensionData", bytes(properties.ExtensionData)),
                )
                if value == CONTENT_FIELDS_OF_TRACED_MESSAGE[name]
            ],
            case="content of the report",
            evidence=[*sent, report],
        )
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.9-11")
@needs("public_names", "receive")
def test_report_to_unknown_queue_is_discarded(peer, sut, judge):
    """The peer sends a traced message that names an unknown report queue, and one that names a known queue. The SUT
    sends the second report. The first report is in no dead-letter queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [receiver.send_packet(_build_traced_message(receiver, queue)) for queue in (OTHER_GUID, PEER_PUBLIC_QUEUE)]
    reports = receiver.await_messages_of_sut(receiver.list_reports, 1)
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.5.8.9-11", reason="no report arrived")
        return
    number = f"{sent[0]['UserHeader'].MessageID:08X}"
    shown = [
        one["label"]
        for queue in DEAD_LETTERS
        for one in sut.control.call("peek", queue=queue, limit=MESSAGES_LIMIT)["messages"]
    ]
    kept = [label for label in shown if number in str(label).upper()]
    judge(
        "MQQB-3.1.5.8.9-11",
        expected=none("report in a dead-letter queue"),
        observed=kept,
        evidence=[*sent, *reports],
    )
    receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.9-04", "MQQB-3.1.5.8.9-08")
@needs("public_names", "directory")
def test_reports_are_sent_to_each_report_queue(peer, sut, judge):
    """The peer sends two traced messages that name different report queues: a public queue of the peer, and a public
    queue in another site, which the SUT reaches through the peer. The SUT sends each report to the named queue.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queues = (PEER_PUBLIC_QUEUE, GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE)
    sent = [receiver.send_packet(_build_traced_message(receiver, queue)) for queue in queues]
    reports = receiver.await_messages_of_sut(receiver.list_reports, len(sent))
    found = [TraceReportMessage(frame) for frame in reports]
    evidence = [*sent, *reports]
    judge(
        "MQQB-3.1.5.8.9-08",
        expected=[1, 1],
        observed=[sum(report.is_about_message(one) for report in found) for one in sent],
        case="number of reports to each queue",
        evidence=evidence,
    )
    destinations = [[report.values["destination"] for report in found if report.is_about_message(one)] for one in sent]
    if any(destinations):
        judge(
            "MQQB-3.1.5.8.9-04",
            expected=[[(QueueType.PUBLIC, str(queue))] for queue in queues],
            observed=destinations,
            case="destination of the report on each message",
            evidence=evidence,
        )
    else:  # a report is only a SHOULD (-08)
        judge.mark_not_exercised("MQQB-3.1.5.8.9-04", reason="no report about the messages arrived")
    receiver.acknowledge_all()
