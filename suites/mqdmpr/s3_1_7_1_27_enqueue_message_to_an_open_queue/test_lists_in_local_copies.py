"""MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue: the lists in the copies that local queues store."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs

MESSAGE_LABEL = "for several local queues"


@needs("qm2qm", "send", "several_queues", "queues")
@covers("MQDMPR-3.1.7.1.27-10")
def test_each_local_copy_lists_all_queues(remote, sut, judge):
    """An application sends a message to two queues of its own computer. A remote reader reads both copies: each of them
    lists both queues.
    """
    readers = {kind: remote.open(kind) for kind in ("plain", "admin")}
    names = [sut.format_name(kind) for kind in readers]
    sut.send(",".join(names), label=MESSAGE_LABEL, body=MESSAGE_LABEL)
    reads, lists = [], {}
    for kind, reader in readers.items():
        read = reader.peek(ulTimeout=sut.response_timeout_ms).expect_success()
        reads.append(read)
        header = read.packet.getlayer("MultiQueueFormatHeader") if read.packet is not None else None
        elements = [] if header is None else header.Destination.FormatNameList
        lists[kind] = sorted(_read_direct_name(one).lower() for one in elements)
    judge(
        "MQDMPR-3.1.7.1.27-10",
        expected=each(sorted(name.partition("=")[2].lower() for name in names), "copy"),
        observed=lists,
        case="queues in the list of each copy",
        evidence=reads,
    )


def _read_direct_name(element):
    """Return the direct name in an element of a list, without DIRECT= (erratum E07)."""
    text = str(element.FormatName.DirectFormatName).rstrip("\0")
    return text.removeprefix("DIRECT=")
