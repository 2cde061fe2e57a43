"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader: a message for several queues, and the lists in it (2.2.20.2, 2.2.20.3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import any_order, between, fields, none
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender

MQF = "MultiQueueFormatHeader"
LISTS = {"Destination": 0x0064, "Administration": 0x00C8, "Response": 0x012C}
"""HeaderID by the name of the list."""
OF_SEVERAL = ("Administration", "Response")
"""Lists that may be empty where one such queue stands in the UserHeader."""
SIGNATURE = 0x015E
FIXED_SIZE = 12
PRIVATE, DIRECT = 2, 3
THIRD = UUID("6d71636f-6e66-4f72-8d00-000000000003")
LABEL = "several"
COPIES = (
    "MQMQ-2.2.20.1-01",
    "MQDMPR-3.1.1.12-28",
    "MQDMPR-3.1.1.12-27",
    "MQMQ-2.2.20.1-D01",
    "MQDMPR-3.1.7.1.30-D05",
    "MQMQ-2.2.20.1-D02",
    "MQMQ-2.2.20.1-D03",
    "MQDMPR-3.1.7.1.32-D06",
    "MQMQ-2.2.20.2-D01",
    "MQMQ-2.2.20.2-D02",
    "MQMQ-2.2.20.2-D03",
    "MQMQ-2.2.20.3-D01",
    "MQMQ-2.2.18.1.4.1-D01",
)

ENQUEUED = ("MQDMPR-3.1.7.1.27-13", "MQDMPR-3.1.7.1.27-14")
"""Each queue gets a copy, of which it is the destination."""
OF_EACH = (
    "UserHeader.DestinationQueue",
    "UserHeader.MessageID",
    "UserHeader.QueueManagerAddress",
    "UserHeader.SentTime",
)
"""Fields that may differ between copies."""


def _await_copies(sender: Sender, count: int) -> list[Frame]:
    """Wait for the SUT's messages and return them; malformed packets count, too."""
    inbox, sut = sender.peer.inbox, sender.sut
    within_ms = sut.connect_timeout_ms + sut.response_timeout_ms
    sender.peer.environment.run_until(lambda: len(inbox.pieces) >= count, within_ms)
    inbox.acknowledge()
    if not inbox.pieces:
        raise ConformanceFailure("none of the SUT's copies came")
    return inbox.pieces


def _list_entry(name: str) -> tuple[int, str]:
    """Return FormatType and text of a direct or private format name in a list, in lower case."""
    kind, _, rest = name.lower().partition("=")
    return (DIRECT, rest + "\0") if kind == "direct" else (PRIVATE, rest)


def _without_prefix(names: Any) -> Any:
    """Return the names of a list without DIRECT=, which erratum E07 allows."""
    if not isinstance(names, list):
        return names
    return [(kind, name.removeprefix("direct=")) for kind, name in names]


def _fields_of_list(name: str, names: list[str], found: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the expected and the observed fields of a list; HeaderSize may include the padding."""
    header = f"{MQF}.{name}"
    size, padded = (found.fields.get(f"{header}.{kind}", 0) for kind in ("size", "padded size"))
    wanted = {
        f"{header}.HeaderSize": between(size, padded),
        f"{header}.HeaderID": LISTS[name],
        f"{header}.Reserved": 0,
        f"{header}.ElementCount": len(names),
        f"{header}.FormatNameList": sorted(_list_entry(one) for one in names),
    }
    observed = found.of(*wanted)
    listed = _without_prefix(observed[f"{header}.FormatNameList"])
    observed[f"{header}.FormatNameList"] = sorted(listed) if isinstance(listed, list) else listed
    return wanted, observed


@needs("send", "several_queues")
@covers(*COPIES, *ENQUEUED, "MQDMPR-3.1.7.1.27-10", "MQDMPR-3.1.7.1.27-12")
@pytest.mark.parametrize("names", [("mqc-1", "mqc-22"), ("mqc-a", "mqc-ab", "mqc-abc", "mqc-abcd")])
def test_each_destination_gets_copy_with_list_of_all(peer, sut, judge, names):
    """The SUT sends a message to several queues of the peer: each queue gets a copy with MQ set, the lists of
    destination, administration and response queues, and the signature header.
    """
    queues = [peer.direct_name(name) for name in names]
    sender = Sender(peer, sut, ",".join(queues))
    admin, response = peer.direct_name("mqc-x"), peer.direct_name("mqc-yz")
    sender.send(1, label=LABEL, acks=["negative_arrival"], admin_queue=admin, response_queue=response)
    came = _await_copies(sender, len(queues))
    reached = [str(Layout(frame).fields.get("UserHeader.DestinationQueue")) for frame in came]
    judge(
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
        "MQMQ-2.2.20.1-D02",
        *ENQUEUED,
        expected=any_order(*(_list_entry(name)[1] for name in queues)),
        observed=reached,
        evidence=came,
    )
    judge(
        "MQDMPR-3.1.7.1.27-12",
        expected=none("field in which copies differ"),
        observed=_differing_fields(came),
        evidence=came,
    )
    for frame in came:
        _judge_lists(judge, frame, {"Destination": queues, "Administration": [admin], "Response": [response]})


def _differing_fields(came: list[Frame]) -> list[str]:
    """Return the fields in which copies differ, without those of a queue or session, and without padding."""
    found = [Layout(frame).fields for frame in came]
    names = {name for each in found for name in each if name.startswith(("UserHeader.", "MessageProperties"))}
    return sorted(
        name for name in names - set(OF_EACH) if len({str(each.get(name, "not there")) for each in found}) > 1
    )


def _judge_lists(judge: Any, frame: Frame, lists: dict[str, list[str]]) -> None:
    found = Layout(frame)
    judge(
        "MQMQ-2.2.20.1-D01",
        "MQDMPR-3.1.7.1.30-D05",
        expected=fields({"UserHeader.Flags.MQ": 1}),
        observed=found,
        evidence=frame,
    )
    for name, queues in lists.items():
        if name in OF_SEVERAL and not found.fields.get(f"{MQF}.{name}.ElementCount", 1):
            queues = []
        expected, observed = _fields_of_list(name, queues, found)
        judge(
            "MQMQ-2.2.20.2-D02",
            "MQMQ-2.2.20.2-D03",
            "MQMQ-2.2.20.1-D03",
            "MQDMPR-3.1.7.1.32-D06",
            "MQMQ-2.2.18.1.4.1-D01",
            expected=expected,
            observed=observed,
            evidence=frame,
        )
        header = {f"{MQF}.{name}.HeaderID": LISTS[name]}
        judge("MQMQ-2.2.20.2-D01", expected=fields(header), observed=found, evidence=frame)
    signature = {f"{MQF}.Signature.ID": SIGNATURE, f"{MQF}.Signature.Reserved": 0, f"{MQF}.Signature.Size": 0}
    judge("MQMQ-2.2.20.3-D01", expected=fields(signature), observed=found, evidence=frame)
    destinations, listed = _fields_of_list("Destination", lists["Destination"], found)
    names = f"{MQF}.Destination.FormatNameList"
    judge(
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
        "MQDMPR-3.1.7.1.27-10",
        expected=destinations[names],
        observed=listed[names],
        evidence=frame,
    )


@needs("send")
@covers("MQMQ-2.2.20.1-D01", "MQDMPR-3.1.7.1.30-D05")
def test_message_to_one_queue_has_no_multi_queue_header(peer, sut, judge):
    """The SUT sends a message to one queue: MQ is 0, and the packet ends after its MessagePropertiesHeader."""
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.first(1)
    wanted = {"UserHeader.Flags.MQ": 0, "bytes left": 0}
    observed = Layout(sent[0])
    judge.all(expected=fields(wanted), observed=observed, evidence=sent)
    sender.acknowledge_all(session)


@needs("send", "public_names", "several_queues")
@covers("MQMQ-2.2.20.1-D02")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "last"])
def test_copy_to_public_queue_has_dq_5(peer, sut, judge, at):
    """The SUT sends a message to a public and a direct name of the peer, in either order: one copy has DQ 5 and the
    other DQ 7.
    """
    queues = [peer.direct_name("mqc-a")]
    queues.insert(at, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    sender = Sender(peer, sut, ",".join(queues))
    try:
        sender.send(1, label=LABEL)
    except ControlRefused as refused:
        judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=f"refused: {refused}", case="DQ")
        return
    came = _await_copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in came]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=reached, case="DQ", evidence=came)


@needs("send", "private_names", "several_queues")
@covers("MQMQ-2.2.20.1-D02", "MQMQ-2.2.18.1.7.2-D01")
@pytest.mark.parametrize("name", ["mqc-a", "mqc-ab"])
def test_list_has_direct_and_private_names_with_padding(peer, sut, judge, name):
    """The SUT sends a message to a direct and a private name of the peer: the list has both, and the private name
    begins at a multiple of 4 bytes.
    """
    queues = [peer.direct_name(name), private_name(peer.identifier)]
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1, label=LABEL)
    came = _await_copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in came]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(3, 7), observed=reached, case="DQ", evidence=came)
    for frame in came:
        expected, observed = _fields_of_list("Destination", queues, Layout(frame))
        judge("MQMQ-2.2.18.1.7.2-D01", expected=expected, observed=observed, evidence=frame)
