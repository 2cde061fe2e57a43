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


def _copies(sender: Sender, count: int) -> list[Frame]:
    """Return the SUT's messages, whether they are packets or not, when there are so many."""
    inbox, sut = sender.peer.inbox, sender.sut
    within_ms = sut.connect_timeout_ms + sut.response_timeout_ms
    sender.peer.environment.run_until(lambda: len(inbox.pieces) >= count, within_ms)
    inbox.acknowledge()
    if not inbox.pieces:
        raise ConformanceFailure("none of the SUT's copies came")
    return inbox.pieces


def _listed(name: str) -> tuple[int, str]:
    """Return a direct or private format name as a list has it, in lower case."""
    kind, _, rest = name.lower().partition("=")
    return (DIRECT, rest + "\0") if kind == "direct" else (PRIVATE, rest)


def _without_prefix(names: Any) -> Any:
    """Return names of a list without DIRECT=, which may stand there (E07)."""
    if not isinstance(names, list):
        return names
    return [(kind, name.removeprefix("direct=")) for kind, name in names]


def _of_list(name: str, names: list[str], found: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a list as they should be and as they are; HeaderSize may count the padding."""
    header = f"{MQF}.{name}"
    size, padded = (found.fields.get(f"{header}.{kind}", 0) for kind in ("size", "padded size"))
    wanted = {
        f"{header}.HeaderSize": between(size, padded),
        f"{header}.HeaderID": LISTS[name],
        f"{header}.Reserved": 0,
        f"{header}.ElementCount": len(names),
        f"{header}.FormatNameList": sorted(_listed(one) for one in names),
    }
    observed = found.of(*wanted)
    listed = _without_prefix(observed[f"{header}.FormatNameList"])
    observed[f"{header}.FormatNameList"] = sorted(listed) if isinstance(listed, list) else listed
    return wanted, observed


@needs("send", "several_queues")
@covers(*COPIES, *ENQUEUED, "MQDMPR-3.1.7.1.27-10", "MQDMPR-3.1.7.1.27-12")
@pytest.mark.parametrize("names", [("mqc-1", "mqc-22"), ("mqc-a", "mqc-ab", "mqc-abc", "mqc-abcd")])
def test_every_queue_gets_a_copy_that_lists_all_of_them(peer, sut, judge, names):
    """A message for several queues of the peer comes once for each, with three lists and a signature behind it."""
    queues = [peer.direct_name(name) for name in names]
    sender = Sender(peer, sut, ",".join(queues))
    admin, response = peer.direct_name("mqc-x"), peer.direct_name("mqc-yz")
    sender.send(1, label=LABEL, acks=["negative_arrival"], admin_queue=admin, response_queue=response)
    came = _copies(sender, len(queues))
    reached = [str(Layout(frame).fields.get("UserHeader.DestinationQueue")) for frame in came]
    judge(
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
        "MQMQ-2.2.20.1-D02",
        *ENQUEUED,
        expected=any_order(*(_listed(name)[1] for name in queues)),
        observed=reached,
        evidence=came,
    )
    judge(
        "MQDMPR-3.1.7.1.27-12", expected=none("field in which copies differ"), observed=_differing(came), evidence=came
    )
    for frame in came:
        _judge_lists(judge, frame, {"Destination": queues, "Administration": [admin], "Response": [response]})


def _differing(came: list[Frame]) -> list[str]:
    """Return the fields in which copies differ, other than what is of each queue or session, and is padding."""
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
        expected, observed = _of_list(name, queues, found)
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
    destinations, listed = _of_list("Destination", lists["Destination"], found)
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
def test_a_message_for_one_queue_has_no_list(peer, sut, judge):
    """A message for one queue has MQ clear, and nothing behind its properties."""
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
def test_a_public_queue_stands_in_a_list(peer, sut, judge, at):
    """A public queue of the peer and a direct one, in either order: each gets its copy, by a name of its kind."""
    queues = [peer.direct_name("mqc-a")]
    queues.insert(at, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    sender = Sender(peer, sut, ",".join(queues))
    try:
        sender.send(1, label=LABEL)
    except ControlRefused as refused:
        judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=f"refused: {refused}", case="DQ")
        return
    came = _copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in came]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=reached, case="DQ", evidence=came)


@needs("send", "private_names", "several_queues")
@covers("MQMQ-2.2.20.1-D02", "MQMQ-2.2.18.1.7.2-D01")
@pytest.mark.parametrize("name", ["mqc-a", "mqc-ab"])
def test_names_of_different_kinds_stand_in_one_list(peer, sut, judge, name):
    """A direct and a private queue are listed by their kinds, the private one from a boundary of 4 bytes."""
    queues = [peer.direct_name(name), private_name(peer.identifier)]
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1, label=LABEL)
    came = _copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in came]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(3, 7), observed=reached, case="DQ", evidence=came)
    for frame in came:
        expected, observed = _of_list("Destination", queues, Layout(frame))
        judge("MQMQ-2.2.18.1.7.2-D01", expected=expected, observed=observed, evidence=frame)
