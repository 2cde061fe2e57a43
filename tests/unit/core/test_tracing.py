"""MS-MQQB 3.1.5.8.9 and 3.1.7.1.7, MS-MQMQ 2.2.20.8: reports that a traced message was sent, and that it arrived."""

import base64
from dataclasses import replace

import pytest
from core_enterprise import PUBLIC, RECEIVER, SENDER, SOUTH_GATE, Enterprise
from core_network import EPOCH_S, PLAIN, TRANSACTIONAL, Network, direct, guid, private
from core_raw import RAW, Raw, user_message

from harness.faults.parts import override_method
from reference_qm.codec import NULL_GUID, BaseHeader, DebugHeader
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import PeekMessages

REPORTS = guid(77)
TRACED = DebugHeader(DebugHeader.flags(QT=1), QueueIdentifier=REPORTS)


def traced(ordinal=0x1A2B, header=TRACED, tr=1, **fields):
    packet = user_message(ordinal, **fields)
    flags = packet.BaseHeader.Flags | BaseHeader.flags(TR=tr, DH=int(header is not None))
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), DebugHeader=header)


def reports_of(host):
    """Record the reports that a host sends, although no directory has the queue for reports."""
    reports = []
    replace_part_by_subclass(
        host.core,
        override_method(OwnMessageSending.send, lambda original: lambda qm, message, now: reports.append(message)),
    )
    return reports


@pytest.fixture
def host():
    return Network().host(1)


def body(report):
    return report.Body.decode("utf-16-le")


def test_trace_report_is_sent_for_arrived_traced_message(host):
    reports = reports_of(host)
    Raw.open(host).feed(traced())
    (report,) = reports
    assert report.DestinationQueueFormatName == f"PUBLIC={str(REPORTS).upper()}"
    assert (report.Class, report.DeliveryGuarantee.value, report.TracingRequested) == (1, "Express", False)
    source = str(RAW).upper()
    assert report.Label == f"{source[:4]}:00001A2B:00 received by {source} at 08:00:00 AM Fri,Jan 15 27"
    assert body(report) == (
        f"<MESSAGE ID>00001A2B</MESSAGE ID>\r\n<TARGET QUEUE>DIRECT=OS:host\\{PLAIN}</TARGET QUEUE>\r\n"
    )
    assert host.bodies() == ["body"]


@pytest.mark.parametrize(
    ("time_s", "said"),
    [
        (0, "12:00:00 AM Thu,Jan 01 70"),
        (12 * 3600 + 61, "12:01:01 PM Thu,Jan 01 70"),
        (13 * 3600 - 1, "12:59:59 PM Thu,Jan 01 70"),
        (EPOCH_S + 15 * 3600 + 7, "11:00:07 PM Fri,Jan 15 27"),
    ],
)
def test_report_label_ends_with_its_time(host, time_s, said):
    message = deserialize_message(traced(), guid(1), 0)
    label = host.core.message_tracing.build_report_label(message, Now(0, time_s))
    assert label.endswith(f" at {said}")


UNTRACED = {
    "TR clear": traced(tr=0),
    "TR without a header": traced(header=None),
    "no queue": traced(header=DebugHeader()),
    "queue of zeros": traced(header=DebugHeader(DebugHeader.flags(QT=1), QueueIdentifier=NULL_GUID)),
    "refused": traced(queue=TRANSACTIONAL),
}


@pytest.mark.parametrize("case", UNTRACED)
def test_untraced_or_refused_message_gives_no_report(host, case):
    reports = reports_of(host)
    Raw.open(host).feed(UNTRACED[case])
    assert reports == []


def test_trace_report_of_recoverable_message_is_sent_after_disk_write(host):
    host.disk = "slow"
    reports = reports_of(host)
    Raw.open(host).feed(traced(recoverable=True))
    assert reports == []
    host.network.settle_disk()
    assert len(reports) == 1


# -- the sender -------------------------------------------------------------------------------------------------


def test_trace_report_of_sending_names_the_next_hop(host):
    reports = reports_of(host)
    Raw.accepted(host)
    host.send(direct(9), trace_queue=REPORTS)
    ordinal = host.core.adm.MessageIdOrdinal
    (report,) = reports
    assert f":{ordinal:08X}:00 received by {str(guid(1)).upper()} at " in report.Label
    assert body(report) == (
        f"<MESSAGE ID>{ordinal:08X}</MESSAGE ID>\r\n"
        f"<TARGET QUEUE>{direct(9)}</TARGET QUEUE>\r\n"
        "<NEXT HOP>10.0.0.9</NEXT HOP>\r\n"
        "<HOP COUNT>00 </HOP COUNT>\r\n"
    )


def test_public_report_queue_gets_a_trace_report_of_every_hop_and_of_arrival():
    enterprise = Enterprise()
    sender, gate, receiver = (enterprise[one] for one in (SENDER, SOUTH_GATE, RECEIVER))
    sender.send(private(RECEIVER), trace_queue=PUBLIC)
    enterprise.settle()
    assert receiver.bodies() == ["body"]
    reports = [
        base64.b64decode(one["body_base64"]).decode("utf-16-le")
        for one in receiver.ask(PeekMessages("orders"))["messages"]
    ]
    counts = sorted(int(one.split("<HOP COUNT>")[1][:2], 16) for one in reports if "HOP COUNT" in one)
    assert counts == [0, 1, 2], "the sender and two gates"
    assert sum("NEXT HOP" not in one for one in reports) == 3, "two gates and the receiver"
    assert gate.bodies() == []


def test_trace_report_is_sent_for_a_local_message_on_arrival(host):
    reports = reports_of(host)
    host.send(direct(1), trace_queue=REPORTS)
    assert len(reports) == 1
    assert "NEXT HOP" not in body(reports[0])
