"""MS-MQQB 3.1.5.8.9 and 3.1.7.1.7, MS-MQMQ 2.2.20.8: reports that a traced message arrived, and that it was sent."""

from dataclasses import replace

import pytest
from core_network import EPOCH_S, TRANSACTIONAL, Network, guid
from core_raw import Raw, user_message

from harness.faults.parts import changed
from reference_qm.codec import NULL_GUID, BaseHeader, DebugHeader
from reference_qm.core.replacing import put_in_place
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.surface.clock import Now

REPORTS = guid(77)
TRACED = DebugHeader(DebugHeader.flags(QT=1), QueueIdentifier=REPORTS)


def traced(ordinal=0x1A2B, header=TRACED, tr=1, **fields):
    packet = user_message(ordinal, **fields)
    flags = packet.BaseHeader.Flags | BaseHeader.flags(TR=tr, DH=int(header is not None))
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), DebugHeader=header)


def reports_of(host):
    """Catch what a host sends of its own: no directory knows the queue for reports."""
    reports = []
    put_in_place(
        host.core, changed(OwnMessages.send, lambda original: lambda qm, message, now: reports.append(message))
    )
    return reports


@pytest.fixture
def host():
    return Network().host(1)


@pytest.mark.parametrize(
    ("time_s", "said"),
    [
        (0, "12:00:00 AM Thu,Jan 01 70"),
        (12 * 3600 + 61, "12:01:01 PM Thu,Jan 01 70"),
        (13 * 3600 - 1, "12:59:59 PM Thu,Jan 01 70"),
        (EPOCH_S + 15 * 3600 + 7, "11:00:07 PM Fri,Jan 15 27"),
    ],
)
def test_the_label_says_when(host, time_s, said):
    message = deserialize_message(traced(), guid(1), 0)
    label = host.core.tracing.build_report_label(message, Now(0, time_s))
    assert label.endswith(f" at {said}")


UNTRACED = {
    "TR clear": traced(tr=0),
    "TR without a header": traced(header=None),
    "no queue": traced(header=DebugHeader()),
    "queue of zeros": traced(header=DebugHeader(DebugHeader.flags(QT=1), QueueIdentifier=NULL_GUID)),
    "refused": traced(queue=TRANSACTIONAL),
}


@pytest.mark.parametrize("case", UNTRACED)
def test_nothing_is_reported_of_a_message_that_is_not_traced_or_not_taken(host, case):
    reports = reports_of(host)
    Raw.open(host).feed(UNTRACED[case])
    assert reports == []


def test_a_recoverable_message_is_reported_when_it_is_on_disk(host):
    host.disk = "slow"
    reports = reports_of(host)
    Raw.open(host).feed(traced(recoverable=True))
    assert reports == []
    host.network.settle_disk()
    assert len(reports) == 1


# -- the sender -------------------------------------------------------------------------------------------------
