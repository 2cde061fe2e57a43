"""MS-MQQB 3.1.5.8.9 Sending a Trace Message: the time in the label of a report at every hour of a day."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.tracing import read_label_text_without_null, read_time_in_report_label_s

HOURS_PER_DAY, SECONDS_PER_HOUR = 24, 3_600
SECONDS_PER_DAY = HOURS_PER_DAY * SECONDS_PER_HOUR
REPORT_TIME_TOLERANCE_S = SECONDS_PER_HOUR + CLOCK_TOLERANCE_S
"""The greatest accepted difference, which includes a change to or from summer time."""


@needs("environment", "public_names")
@covers("MQQB-3.1.5.8.9-06")
def test_label_of_report_contains_time_at_every_hour(peer, sut, judge):
    """The clock of the SUT is set ahead by an hour for each of 24 traced messages. The label of each report contains
    the time at which the SUT sent the report, in the same time zone for all reports.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    sent = []
    for hour in range(HOURS_PER_DAY):
        sut.change_environment(clock=hour * SECONDS_PER_HOUR)
        sent.append(
            receiver.send_packet(receiver.build_message(base={"TR": 1}, debug={"QueueIdentifier": PEER_PUBLIC_QUEUE}))
        )
        receiver.await_messages_of_sut(receiver.list_reports, hour + 1)
    sut.change_environment(clock=0)
    reports = receiver.list_reports()
    receiver.acknowledge_all()
    if not reports:
        judge.mark_not_exercised("MQQB-3.1.5.8.9-06", reason="no report arrived")
        return
    labels = [read_label_text_without_null(report["MessagePropertiesHeader"].Label) for report in reports]
    zones = [
        None if time_s is None else (time_s - int(report["UserHeader"].SentTime)) % SECONDS_PER_DAY
        for time_s, report in zip(map(read_time_in_report_label_s, labels), reports, strict=True)
    ]
    judge(
        "MQQB-3.1.5.8.9-06",
        expected=facts(number_of_reports=HOURS_PER_DAY, labels_with_another_time=[]),
        observed={
            "number_of_reports": len(reports),
            "labels_with_another_time": [
                label for label, zone in zip(labels, zones, strict=True) if not _is_same_time_zone(zone, zones[0])
            ],
        },
        evidence=[*sent, *reports],
    )


def _is_same_time_zone(zone, other):
    """Return whether two labels have the same difference between their time of day and the time of sending."""
    if zone is None or other is None:
        return False
    return min((zone - other) % SECONDS_PER_DAY, (other - zone) % SECONDS_PER_DAY) <= REPORT_TIME_TOLERANCE_S
