"""MS-MQQB 3.1.5.8.9 Sending a Trace Message, of a message that arrives; of one that is sent: 3.1.7.1.7."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import PUBLIC, REPORT, AcknowledgingReceiver, message_class
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.tracing import EXPRESS, destination_of, label_for, label_of_report, text_of_report


@covers(
    "MQQB-3.1.5.8.9-01",
    "MQQB-3.1.5.8.9-02",
    "MQQB-3.1.5.8.9-03",
    "MQQB-3.1.5.8.9-04",
    "MQQB-3.1.5.8.9-05",
    "MQQB-3.1.5.8.9-06",
    "MQQB-3.1.5.8.9-07",
    "MQQB-3.1.5.8.9-08",
    "MQQB-3.1.5.8.9-11",
    "MQQB-3.1.5.8-11",
)
@needs("public_names")
def test_a_traced_message_that_arrives_is_reported(peer, sut, judge):
    """Of three messages one is traced, one not, one to a queue that nobody knows: there is one report."""
    receiver = AcknowledgingReceiver(peer, sut)
    traces = [(1, PEER_PUBLIC_QUEUE), (0, PEER_PUBLIC_QUEUE), (1, OTHER_GUID)]
    sent = [
        receiver.give(receiver.asking({"RC": 3}, base={"TR": traced}, debug={"QueueIdentifier": queue}))
        for traced, queue in traces
    ]
    reports = receiver.await_all(receiver.reports, 1)
    evidence = [*sent, *reports]
    for rule in ("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8.9-02", "MQQB-3.1.5.8.9-08", "MQQB-3.1.5.8.9-11", "MQQB-3.1.5.8-11"):
        judge(
            rule, expected="1 report", observed=f"{len(reports)} report{'s' * (len(reports) != 1)}", evidence=evidence
        )
    for report in reports[:1]:
        address = f"TCP:{sut.address}\\{sut.queue()}"
        body = (
            f"<MESSAGE ID>{sent[0]['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n"
            f"<TARGET QUEUE>DIRECT={address}</TARGET QUEUE>\r\n"
        )
        for rule, expected, observed in (
            ("MQQB-3.1.5.8.9-03", REPORT, message_class(report)),
            ("MQQB-3.1.5.8.9-04", f"DQ {PUBLIC}, {PEER_PUBLIC_QUEUE}", destination_of(report)),
            ("MQQB-3.1.5.8.9-05", EXPRESS, report["UserHeader"].DM),
            ("MQQB-3.1.5.8.9-06", label_for(sent[0]), label_of_report(report)),
            ("MQQB-3.1.5.8.9-07", body.lower(), text_of_report(report).lower()),
        ):
            judge(rule, expected=expected, observed=observed, evidence=evidence)
