"""List the test vectors of packets that are not part of the covering array: packets from the document, packets with
boundary values, packets that must be refused, and packets with tolerated deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from harness.capture.golden import load_golden_capture
from harness.vectors.covering import SAMPLE_GUIDS, build_message, list_property_combinations
from harness.vectors.vector import VectorRow
from harness.wire import (
    FinalAckBody,
    OrderAckBody,
    connection_parameters,
    establish_connection,
    ping_request,
    session_ack,
    user_message,
)

TRUNCATED_PACKET_LENGTHS = (0, 1, 15, 16)
"""The sizes in bytes to which a valid packet is truncated. A packet of 16 bytes consists only of its BaseHeader: the
InternalHeader or UserHeader is missing.
"""


def list_frames_of_example(packet: str) -> Iterator[VectorRow]:
    """Yield the frames of one kind from the example in MS-MQQB 4.1."""
    for frame in load_golden_capture().frames:
        if frame.packet == packet:
            name = f"golden-frame-{frame.number}"
            yield VectorRow(name, frame.data, "valid", f"MS-MQQB {frame.section} {frame.title}, as Windows sent it.")


def replace_bytes(data: bytes, offset: int, new: bytes) -> bytes:
    """Return the bytes of a packet in which some bytes are replaced."""
    return data[:offset] + new + data[offset + len(new) :]


def list_packets_to_refuse(valid: bytes, kind: str) -> Iterator[VectorRow]:
    """Yield test vectors that every receiver must refuse: each is a valid packet with one error, such as a wrong
    signature (MS-MQMQ 2.2.19.1, MS-MQQB 3.1.5.1.3).
    """
    size = int.from_bytes(valid[8:12], "little")
    changes = {
        "version-0x11": (0, b"\x11", ("MQMQ-2.2.19.1-01",), "VersionNumber is 0x11."),
        "signature-reversed": (4, b"ROIL", ("MQMQ-2.2.19.1-21",), "Signature is 52 4F 49 4C."),
        "size-below-16": (8, (15).to_bytes(4, "little"), ("MQMQ-2.2.19.1-22",), "PacketSize is 15."),
        "size-above-4-mb": (8, (0x400001).to_bytes(4, "little"), ("MQMQ-2.2.19.1-22",), "PacketSize is 0x400001."),
        "size-one-more": (
            8,
            (size + 1).to_bytes(4, "little"),
            ("MQMQ-2.2.19.1-22",),
            "PacketSize is too high by one.",
        ),
    }
    for name, (offset, new, rules, comment) in changes.items():
        yield VectorRow(name, replace_bytes(valid, offset, new), "invalid", f"{kind}: {comment}", rules)
    for length in TRUNCATED_PACKET_LENGTHS:
        yield VectorRow(
            f"cut-after-{length}", valid[:length], "invalid", f"{kind}: the packet is truncated after {length} bytes."
        )
    yield VectorRow("cut-by-one", valid[:-1], "invalid", f"{kind}: the last byte is missing.")


def list_pings() -> Iterator[VectorRow]:
    """Yield the test vectors for PingPacket (MS-MQQB 2.2.7)."""
    yield from list_frames_of_example("Ping")
    for name, word in (("request", 0x0000), ("response", 0x0001), ("refusing-response", 0x0003)):
        data = bytes(ping_request(Flags=word, Cookie=0xFFFF_FFFF, QMGuid=SAMPLE_GUIDS[0]))
        yield VectorRow(name, data, "valid", f"Flags is 0x{word:04X}; Cookie has its greatest value.")
    data = bytes(ping_request(Flags=0xFFFC, QMGuid=UUID(int=0)))
    yield VectorRow(
        "unused-bits-set", data, "acceptable", "A receiver ignores the unused bits of Flags.", ("MQQB-2.2.7-01",)
    )
    valid = bytes(ping_request())
    yield VectorRow(
        "wrong-signature", replace_bytes(valid, 2, b"UH"), "invalid", "Signature is 55 48 in reverse order."
    )
    yield VectorRow("cut-by-one", valid[:-1], "invalid", "Only 23 of 24 bytes are present.")


def list_establish_connections() -> Iterator[VectorRow]:
    """Yield the test vectors for EstablishConnection (MS-MQQB 2.2.3)."""
    yield from list_frames_of_example("EstablishConnection")
    guids: dict[str, Any] = {"ClientGuid": SAMPLE_GUIDS[0], "ServerGuid": SAMPLE_GUIDS[1]}
    yield VectorRow(
        "request-without-ping",
        bytes(establish_connection(**guids)),
        "valid",
        "SE is 1: the initiator sent no ping before.",
    )
    yield VectorRow(
        "request-after-ping",
        bytes(establish_connection(SE=0, **guids)),
        "valid",
        "SE is 0: the initiator sent a ping before.",
    )
    nobody = bytes(establish_connection(ClientGuid=SAMPLE_GUIDS[0], ServerGuid=0))
    yield VectorRow(
        "server-guid-zero",
        nobody,
        "acceptable",
        "ServerGuid is zero, which a receiver may refuse or accept.",
        errata=("E09",),
    )
    refusing = bytes(establish_connection(internal={"CS": 1}, **guids))
    yield VectorRow("refused", refusing, "valid", "CS is set: the acceptor refuses the session.")
    odd = bytes(establish_connection(Reserved=0xFFFF, Padding=bytes(512), **guids))
    yield VectorRow(
        "padding-of-zeros",
        odd,
        "acceptable",
        "A sender sets Reserved to 0 and Padding to 0x5A; a receiver ignores both.",
    )
    yield from list_packets_to_refuse(bytes(establish_connection(**guids)), "EstablishConnection")


def list_connection_parameters() -> Iterator[VectorRow]:
    """Yield the test vectors for ConnectionParameters (MS-MQQB 2.2.2)."""
    yield from list_frames_of_example("ConnectionParameters")
    for window in (1, 0x40, 0xFFFF):
        yield VectorRow(
            f"window-{window}", bytes(connection_parameters(WindowSize=window)), "valid", f"WindowSize is {window}."
        )
    refusing = bytes(connection_parameters(RecoverableAckTimeout=0, AckTimeout=0, WindowSize=0))
    yield VectorRow(
        "all-zero",
        refusing,
        "acceptable",
        "Values out of range, which a receiver may accept or refuse.",
        errata=("E14",),
    )
    yield from list_packets_to_refuse(bytes(connection_parameters()), "ConnectionParameters")


def list_session_acks() -> Iterator[VectorRow]:
    """Yield the test vectors for SessionAck (MS-MQQB 2.2.6)."""
    yield from list_frames_of_example("SessionAck")
    values: dict[str, Any] = {
        "AckSequenceNumber": 0xFFFF,
        "RecoverableMsgAckSeqNumber": 1,
        "RecoverableMsgAckFlags": 0x8000_0001,
    }
    yield VectorRow("counters-at-their-end", bytes(session_ack(**values)), "valid", "AckSequenceNumber is 0xFFFF.")
    printed = bytes(session_ack(base={"PacketSize": 0x14}))
    yield VectorRow(
        "size-without-header",
        printed,
        "acceptable",
        "PacketSize does not count the SessionHeader, as in the document.",
        errata=("E01",),
    )
    yield VectorRow(
        "refusing-bit", bytes(session_ack(internal={"CS": 1})), "acceptable", "CS is set.", ("MQQB-2.2.1-04",)
    )
    yield from (
        row for row in list_packets_to_refuse(bytes(session_ack()), "SessionAck") if row.name != "size-one-more"
    )
    wrong = bytes(session_ack(base={"PacketSize": 0x25}))
    yield VectorRow(
        "size-of-no-session-ack", wrong, "invalid", "PacketSize is neither 0x14 nor 0x24.", ("MQMQ-2.2.19.1-22",)
    )


def list_messages() -> Iterator[VectorRow]:
    """Yield the test vectors for UserMessage (MS-MQMQ 2.2.20). The vectors of the covering array come first."""
    yield from list_frames_of_example("UserMessage")
    for number, values in enumerate(list_property_combinations()):
        comment = (
            "Covering array of strength 2: " + ", ".join(f"{name} {value}" for name, value in values.items()) + "."
        )
        yield VectorRow(f"combination-{number:03}", build_message(values), "valid", comment)
    yield from _list_transactional_acks()
    yield from _list_tolerated_message_rows()
    yield from list_packets_to_refuse(bytes(user_message(body=b"body")), "UserMessage")
    yield from _list_refused_message_rows()


def _list_transactional_acks() -> Iterator[VectorRow]:
    name = "TCP:192.0.2.1\\private$\\order_queue$"
    order = OrderAckBody(TxSequenceNumber=5, TxPreviousSequenceNumber=4)
    final = FinalAckBody(TxSequenceNumber=5, TxPreviousSequenceNumber=4, SourceGUID=SAMPLE_GUIDS[0], MessageID=9)
    for kind, number, mode, body in (("order-ack", 0x00FF, 0, order), ("final-ack", 0x4000, 1, final)):
        message: dict[str, Any] = {
            "MessageClass": number,
            "label": "QM Ordering Ack",
            "body": body,
            "destination": name,
        }
        data = bytes(user_message(base={"PR": 0}, user={"DM": mode}, **message))
        yield VectorRow(
            kind,
            data,
            "valid",
            "MessageBody names the acknowledged transactional messages (MS-MQQB 2.2.4, 2.2.5).",
        )


def _list_tolerated_message_rows() -> Iterator[VectorRow]:
    unused = bytes(user_message(base={"X9": 1}, user={"X1": 1, "X4": 7}))
    rules = ("MQMQ-2.2.19.1-10", "MQMQ-2.2.19.2-12", "MQMQ-2.2.19.2-28")
    yield VectorRow(
        "unused-bits-set", unused, "acceptable", "A sender sets unused bits to 0; a receiver ignores them.", rules
    )
    padded = bytes(user_message(body=b"12345", properties={"Padding": b"\xff\xff\xff"}))
    yield VectorRow("padding-not-zero", padded, "acceptable", "Padding bytes may have any value.")
    no_flag = bytes(user_message(security={"SecurityID": bytes(28), "AI": 0}))
    yield VectorRow(
        "security-data-with-ai-clear",
        no_flag,
        "acceptable",
        "AI is clear, although a SecurityID is present.",
        errata=("E05",),
    )
    priority = bytes(user_message(base={"PR": 5}, transaction={}))
    yield VectorRow(
        "transactional-priority", priority, "acceptable", "PR is 5, although TH is 1.", ("MQMQ-2.2.19.1-04",)
    )


_REFUSED_PACKET_ROWS: tuple[tuple[str, Callable[[], bytes], str, tuple[str, ...]], ...] = (
    (
        "destination-kind-4",
        lambda: bytes(user_message(user={"DQ": 4})),
        "DQ has a value that selects no layout.",
        ("MQMQ-2.2.19.2-15",),
    ),
    (
        "admin-queue-kind-1",
        lambda: bytes(user_message(user={"AQ": 1})),
        "AQ has a value that selects no layout.",
        ("MQMQ-2.2.19.2-16",),
    ),
    (
        "announced-admin-queue-missing",
        lambda: bytes(user_message(user={"AQ": 5}, properties={"Padding": b""})),
        "AQ announces a public name that is not in the packet.",
        ("MQMQ-2.2.19.2-32",),
    ),
    (
        "announced-security-header-missing",
        lambda: bytes(user_message(user={"SH": 1})),
        "SH announces a SecurityHeader that is not in the packet.",
        ("MQMQ-2.2.19.2-18",),
    ),
    (
        "announced-session-header-missing",
        lambda: bytes(user_message(base={"SH": 1})),
        "BaseHeader.Flags.SH announces a SessionHeader that is not in the packet.",
        (),
    ),
    (
        "properties-header-not-announced",
        lambda: bytes(user_message(user={"MP": 0})),
        "MP is 0: the message has no MessagePropertiesHeader.",
        ("MQMQ-2.2.19.2-21",),
    ),
    (
        "body-larger-than-packet",
        lambda: bytes(user_message(body=b"body", MessageSize=0x1000)),
        "MessageSize is larger than the packet.",
        ("MQMQ-2.2.19.3-18",),
    ),
    (
        "extension-larger-than-packet",
        lambda: bytes(user_message(ExtensionSize=0xFFFF_FFFF)),
        "ExtensionSize is larger than the packet.",
        ("MQMQ-2.2.19.3-28",),
    ),
    (
        "list-of-four-billion",
        lambda: bytes(user_message(mqf={})).replace(b"\x64\0\0\0\0\0\0\0", b"\x64\0\0\0\xff\xff\xff\xff"),
        "ElementCount of the destinations is 0xFFFFFFFF, and no element follows.",
        (),
    ),
)


def _list_refused_message_rows() -> Iterator[VectorRow]:
    for name, build, comment, rules in _REFUSED_PACKET_ROWS:
        yield VectorRow(name, build(), "invalid", comment, rules)


VECTOR_LISTER_BY_PACKET_KIND: dict[str, Callable[[], Iterator[VectorRow]]] = {
    "ping": list_pings,
    "establish_connection": list_establish_connections,
    "connection_parameters": list_connection_parameters,
    "session_ack": list_session_acks,
    "user_message": list_messages,
}
"""For each kind of packet, the function that yields the test vectors of its file."""
