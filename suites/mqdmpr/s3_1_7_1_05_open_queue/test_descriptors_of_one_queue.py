"""MS-MQDMPR 3.1.7.1.5 Open Queue: OpenQueueDescriptors of one queue that is open several times."""

from __future__ import annotations

from harness.expectations import distinct_values
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import PEEK_ACCESS
from suites.mqdmpr.steps.opened_descriptors import list_format_names_of_descriptor, map_opened_descriptors_by_handle


@needs("open_to_send", "inspect", "qm2qm", "queue_control", "receive")
@covers(
    "MQDMPR-3.1.7.1.5-116",
    "MQDMPR-3.1.7.1.5-117",
    "MQDMPR-3.1.7.1.5-119",
    "MQDMPR-3.1.7.1.5-120",
)
def test_each_opening_of_one_queue_shows_its_own_values(remote, sut, judge):
    """While remote readers have a queue open, applications open the queue twice to receive and twice to peek. They also
    open it for sending, twice by its direct and twice by its private format name. Each opening has a descriptor with
    the requested access and format name, and Multiple is False.
    """
    queue = sut.queue()
    first = remote.open()
    readers = [first, remote.open(association=first.association, access=PEEK_ACCESS)]
    calls = [one.opened for one in readers]
    wanted: list[tuple[int, str, str | None]] = []
    for access, shown in (("receive", "ReceiveAccess"), ("peek", "PeekAccess")) * 2:
        handle = int(sut.control.call("open_queue", queue=queue, access=access)["handle"])
        wanted.append((handle, shown, None))
    for name in (sut.direct_name(queue), sut.private_format_name(queue)) * 2:
        handle = int(sut.control.call("open_to_send", to=name)["handle"])
        wanted.append((handle, "SendAccess", name.lower()))
    found = map_opened_descriptors_by_handle(sut)
    handles = [handle for handle, _, _ in wanted]
    opened = [found.get(handle, {}) for handle in handles]
    judge(
        "MQDMPR-3.1.7.1.5-116",
        expected={"handles": distinct_values("handles", len(handles)), "handles without a descriptor": []},
        observed={"handles": handles, "handles without a descriptor": [one for one in handles if one not in found]},
        evidence=calls,
    )
    judge(
        "MQDMPR-3.1.7.1.5-117",
        expected=[access for _, access, _ in wanted],
        observed=[one.get("AccessType", "missing") for one in opened],
        evidence=calls,
        case="AccessType of each descriptor",
    )
    judge(
        "MQDMPR-3.1.7.1.5-119",
        expected=[name for _, _, name in wanted if name is not None],
        observed=[
            ",".join(list_format_names_of_descriptor(found.get(handle, {})))
            for handle, _, name in wanted
            if name is not None
        ],
        case="FormatName of each descriptor for sending",
    )
    judge(
        "MQDMPR-3.1.7.1.5-120",
        expected=[False] * len(wanted),
        observed=[one.get("Multiple", "missing") for one in opened],
        case="Multiple of each descriptor",
    )
    for handle in handles:
        sut.attempt("close_queue", handle=handle)
