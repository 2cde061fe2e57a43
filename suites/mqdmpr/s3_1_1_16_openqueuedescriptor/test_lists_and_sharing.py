"""MS-MQDMPR 3.1.1.16 OpenQueueDescriptor: descriptors of lists, and of queues that are not shared."""

from __future__ import annotations

from harness.expectations import distinct_values
from harness.run.marks import covers, needs


@needs("inspect", "open_to_send", "several_queues", "qm2qm")
@covers("MQDMPR-3.1.1.16-02")
def test_descriptors_of_list_have_unique_handles(peer, remote, sut, judge):
    """An application opens a list of three queues for sending, and a remote reader opens a queue. The descriptor of the
    list, the descriptors of its queues and the descriptor of the reader have different handles.
    """
    reader = remote.open_remote(remote.associate()).expect_success()
    names = [peer.direct_name(f"mqc-listed-{number}") for number in (1, 2, 3)]
    handle = sut.control.call("open_to_send", to=",".join(names))["handle"]
    model = sut.inspect()
    listed = next((one for one in model["OpenQueueDescriptors"] if one["Handle"] == handle), None)
    handles = [int(reader.out.phQueue), handle, *(listed["OpenQueueDescriptorCollection"] if listed else [])]
    sut.control.call("close_queue", handle=handle)
    judge("MQDMPR-3.1.1.16-02", expected=distinct_values("handles", len(names) + 2), observed=handles, evidence=reader)


@needs("inspect", "receive", "queue_control")
@covers("MQDMPR-3.1.1.16-04")
def test_access_type_does_not_depend_on_sharing(sut, judge):
    """Applications open queues to receive and to peek, with and without sharing: each descriptor has the AccessType
    that was requested.
    """
    for access, shown_as in (("receive", "ReceiveAccess"), ("peek", "PeekAccess")):
        for deny_receive in (False, True):
            queue = sut.new_queue("shared")
            handle = sut.control.call("open_queue", queue=queue, access=access, deny_receive=deny_receive)["handle"]
            shown = [one["AccessType"] for one in sut.inspect_queue(queue)["OpenQueueDescriptorCollection"]]
            sut.control.call("close_queue", handle=handle)
            case = f"AccessType of a queue opened to {access}, deny_receive {deny_receive}"
            judge("MQDMPR-3.1.1.16-04", expected=[shown_as], observed=shown, case=case)
