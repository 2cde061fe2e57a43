"""MS-MQQB 3.1.7.1.7 Sending Trace Message: the report on a message that the SUT sends.

Reports on received messages are judged in 3.1.5.8.9.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME
from suites.mqqb.steps.tracing import Report


@covers(
    "MQQB-3.1.7.1.7-01",
    "MQQB-3.1.7.1.7-02",
    "MQQB-3.1.7.1.7-03",
    "MQQB-3.1.7.1.7-04",
    "MQQB-3.1.7.1.7-05",
    "MQQB-3.1.7.1-11",
    "MQDMPR-3.1.1.12-D61",
    "MQMQ-2.2.19.1-12",
)
@needs("send", "public_names")
def test_traced_message_that_is_sent_is_reported(peer, sut, judge):
    """The SUT sends an untraced and a traced message to the peer: it sends one report, which has the class,
    destination, label and body that the document prints for the traced message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    to = peer.direct_name()
    sut.send(to, body="not traced", label="not traced")
    sut.send(to, body="traced", label="traced", trace_queue=str(PEER_PUBLIC_QUEUE))
    reports = receiver.await_all(receiver.list_reports, 1)
    direct = [frame for frame in receiver.messages if frame not in reports]
    own = [frame for frame in direct if frame["BaseHeader"].TR]
    evidence = [*own, *reports]
    traced = sorted({frame["BaseHeader"].TR for frame in direct})
    judge("MQMQ-2.2.19.1-12", expected=[0, 1], observed=traced, case="TR of the messages", evidence=evidence)
    judge(
        "MQQB-3.1.7.1.7-01",
        "MQQB-3.1.7.1.7-02",
        "MQQB-3.1.7.1-11",
        "MQDMPR-3.1.1.12-D61",
        expected=1,
        observed=len(reports),
        case="number of reports",
        evidence=evidence,
    )
    if not own:
        raise ConformanceFailure("no message with TR arrived, so no report can be compared with it")
    message = own[0]
    body = (
        f"<MESSAGE ID>{message['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n<TARGET QUEUE>{to}</TARGET QUEUE>\r\n"
        f"<NEXT HOP>{peer.address}</NEXT HOP>\r\n<HOP COUNT>00</HOP COUNT>\r\n"
    )
    if not reports:
        judge.mark_not_exercised(
            "MQQB-3.1.7.1.7-03", "MQQB-3.1.7.1.7-04", "MQQB-3.1.7.1.7-05", reason="no report arrived"
        )
    values = fields(Report.build_expected_values(PEER_PUBLIC_QUEUE))
    for frame in reports:
        report = Report(frame)
        judge(
            "MQQB-3.1.7.1.7-03",
            expected=values,
            observed=report.values,
            case="attributes of the report",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.7.1.7-04",
            expected=Report.build_expected_label(message),
            observed=report.label,
            case="label of the report",
            evidence=evidence,
        )
        text = report.text.replace(" </HOP COUNT>", "</HOP COUNT>").lower()
        judge("MQQB-3.1.7.1.7-05", expected=body.lower(), observed=text, case="body of the report", evidence=evidence)


@covers("MQQB-3.1.7.1.7-05")
@needs("send", "public_names", "two_addresses")
@varied("application tag", "label", acknowledgments=("none", "of receipt"))
def test_report_has_address_of_next_hop(peer, sut, judge):
    """The SUT sends a traced message to a host name with two addresses, of which the second is the peer's: the report
    contains that address as next hop.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="traced", trace_queue=str(PEER_PUBLIC_QUEUE))
    reports = receiver.await_all(receiver.list_reports, 1)
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.7.1.7-05", reason="no report arrived")
        return
    hop = f"<NEXT HOP>{peer.address}</NEXT HOP>"
    lines = Report(reports[0]).text.split("\r\n")
    observed = next((line for line in lines if line.startswith("<NEXT HOP>")), "no next hop")
    judge("MQQB-3.1.7.1.7-05", expected=hop, observed=observed, case="next hop in the report", evidence=reports)
