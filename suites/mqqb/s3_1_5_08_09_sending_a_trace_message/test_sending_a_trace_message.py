"""MS-MQQB 3.1.5.8.9 Sending a Trace Message: the report about a received message.

The checks of 3.1.7.1.7 judge reports about sent messages.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.tracing import TraceReportMessage

RULES_FULFILLED_WITHOUT_REPORTS = ("MQQB-3.1.5.8.1-04", "MQDMPR-3.1.7.1.31-D07")
"""Rules that a system fulfils even if it sends no reports, such as an early release of Windows (MS-MQMQ <23>)."""


LARGE_BODY_BYTES = 5_000
CORRELATION_ID_OF_TRACED_MESSAGE = bytes(range(20))
"""The CorrelationID of a traced message, which the report on this message does not have."""
LARGE_MESSAGE_ID = 0x5A00_0000
"""A number that makes a MessageID use all its bytes."""


@covers(
    "MQQB-3.1.5.8.9-01",
    "MQQB-3.1.5.8.9-02",
    "MQQB-3.1.5.8.9-03",
    "MQDMPR-3.1.1.12-D06",
    "MQDMPR-3.1.7.1.32-D08",
    "MQDMPR-3.1.1.12-D61",
    "MQQB-3.1.5.8.9-04",
    "MQDMPR-3.1.7.1.31-D07",
    "MQQB-3.1.5.8.9-05",
    "MQQB-3.1.5.8.9-06",
    "MQQB-3.1.5.8.9-07",
    "MQQB-3.1.5.8.9-08",
    "MQQB-3.1.5.8.9-11",
    "MQQB-3.1.5.8-11",
    "MQQB-3.1.5.8.1-04",
)
@needs("public_names")
def test_traced_messages_that_arrive_are_reported(peer, sut, judge):
    """The peer sends traced messages of several kinds, which arrive. After the first of them, it sends a traced message
    that names an unknown report queue. It also sends three messages that are untraced, repeated or refused. The SUT
    sends reports only about the traced messages that arrive, with the specified class, destination, label and body. An
    application has the report queue open.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    if sut.has("open_to_send"):
        sut.control.call("open_to_send", to=f"PUBLIC={PEER_PUBLIC_QUEUE}")

    def build_traced_fields(hops: int, queue: UUID = PEER_PUBLIC_QUEUE, on: int = 1) -> dict[str, Any]:
        return {"user": {"RC": hops}, "base": {"TR": on}, "debug": {"QueueIdentifier": queue}}

    packets = [
        receiver.build_message(**build_traced_fields(0)),
        receiver.build_message(**build_traced_fields(3), body=bytes(LARGE_BODY_BYTES), properties={"PA": 1}),
        receiver.build_message(
            **build_traced_fields(9), properties={"CorrelationID": CORRELATION_ID_OF_TRACED_MESSAGE}
        ),
        receiver.build_message(**build_traced_fields(0x1D), MessageClass=AckClass.REACH_QUEUE),
        receiver.build_message(**_add_user_header_fields(build_traced_fields(1), DM=1, JN=1)),
        receiver.build_message(
            **_add_user_header_fields(build_traced_fields(7), MessageID=LARGE_MESSAGE_ID + peer.next_message_id())
        ),
        Sequence(peer, ordinal=1).message(**build_traced_fields(2)),
    ]
    reported = [receiver.send_packet(packets[0])]
    to_unknown_queue = receiver.send_packet(receiver.build_message(**build_traced_fields(6, OTHER_GUID)))
    reported += [receiver.send_packet(packet) for packet in packets[1:]]
    by_private_name = []
    if sut.has("queue_control"):
        private = _add_user_header_fields(
            build_traced_fields(8), **peer.build_fields_for_private_name_of_sut_queue(sut.queue())
        )
        by_private_name.append(receiver.send_packet(receiver.build_message(**private, destination=None)))
        reported += by_private_name
    refused = receiver.send_packet(Sequence(peer, ordinal=2).message(queue="plain", **build_traced_fields(4)))
    untraced = receiver.send_packet(receiver.build_message(**build_traced_fields(5, on=0)))
    repeated = receiver.send_packet(packets[0])
    reports = receiver.await_messages_of_sut(receiver.list_reports, len(reported))
    found = [TraceReportMessage(frame) for frame in reports]
    evidence = [*reported, refused, untraced, repeated, to_unknown_queue, *reports]

    def count_reports(*messages: Frame) -> list[int]:
        return [sum(report.is_about_message(message) for report in found) for message in messages]

    expected = [*[1] * len(reported), 0]
    cases: tuple[tuple[str, str, Any, Any], ...] = (
        (
            "MQDMPR-3.1.1.12-D61",
            "number of reports on each traced message and on an untraced message",
            expected,
            count_reports(*reported, untraced),
        ),
        (
            "MQQB-3.1.5.8.9-01",
            "number of reports on each traced message and on an untraced message",
            expected,
            count_reports(*reported, untraced),
        ),
        (
            "MQDMPR-3.1.7.1.31-D07",
            "number of reports on each traced message and on a message that names another report queue",
            [*[1] * len(reported), 0],
            count_reports(*reported, to_unknown_queue),
        ),
        (
            "MQQB-3.1.5.8-11",
            "number of reports on each accepted message and on a refused message",
            expected,
            count_reports(*reported, refused),
        ),
        (
            "MQQB-3.1.5.8.9-02",
            "number of different MessageIDs of the reports, and of reports with the CorrelationID of a traced message",
            (len(reported), 0),
            (
                len({report.identifier for report in found}),
                sum(bytes(report.properties.CorrelationID) == CORRELATION_ID_OF_TRACED_MESSAGE for report in found),
            ),
        ),
        (
            "MQQB-3.1.5.8.1-04",
            "number of reports on a message that the peer sent twice",
            1,
            count_reports(repeated)[0],
        ),
        (
            "MQQB-3.1.5.8.9-08",
            "reports arrived on all traced messages for one report queue",
            [1] * len(reported),
            count_reports(*reported),
        ),
        (
            "MQQB-3.1.5.8.9-11",
            "report arrived at the known queue, and number of reports to the unknown queue",
            (True, 0),
            (all(count_reports(*reported)), *count_reports(to_unknown_queue)),
        ),
    )
    for rule, case, wanted, observed in cases:
        if found or rule not in RULES_FULFILLED_WITHOUT_REPORTS:
            judge(rule, expected=wanted, observed=observed, case=case, evidence=evidence)
        else:
            judge.mark_not_exercised(rule, reason="no report arrived")
    address = f"TCP:{sut.address}\\"
    queues = {0: sut.queue(), 1: sut.queue("transactional")}
    bodies = [
        f"<MESSAGE ID>{frame['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n"
        f"<TARGET QUEUE>DIRECT={address}{queues[frame['UserHeader'].TH]}</TARGET QUEUE>\r\n"
        for frame in reported
        if frame not in by_private_name
    ]
    expected_values = TraceReportMessage.build_expected_values(PEER_PUBLIC_QUEUE)
    for name, rules in (
        ("MessageClass", ("MQQB-3.1.5.8.9-03", "MQDMPR-3.1.1.12-D06", "MQDMPR-3.1.7.1.32-D08")),
        ("destination", ("MQQB-3.1.5.8.9-04", "MQDMPR-3.1.7.1.31-D07")),
        ("DM", ("MQQB-3.1.5.8.9-05",)),
    ):
        expected = [expected_values[name]] * len(reports)
        values = [report.values[name] for report in found]
        judge(*rules, expected=expected, observed=values, case=f"{name} of the reports", evidence=evidence)
    judge(
        "MQQB-3.1.5.8.9-04",
        expected=[0],
        observed=count_reports(to_unknown_queue),
        case="number of reports on a message that names another queue",
        evidence=evidence,
    )
    labels = sorted(report.label for report in found)
    judge(
        "MQQB-3.1.5.8.9-06",
        expected=sorted(map(TraceReportMessage.build_expected_label, reported)),
        observed=labels,
        case="labels of the reports",
        evidence=evidence,
    )
    texts = sorted(
        report.text.lower() for report in found if not any(report.is_about_message(frame) for frame in by_private_name)
    )
    judge(
        "MQQB-3.1.5.8.9-07",
        expected=sorted(map(str.lower, bodies)),
        observed=texts,
        case="bodies of the reports",
        evidence=evidence,
    )
    receiver.acknowledge_all()


def _add_user_header_fields(arguments: dict[str, Any], **user: Any) -> dict[str, Any]:
    """Add fields of UserHeader to the arguments of a message."""
    return arguments | {"user": arguments["user"] | user}
