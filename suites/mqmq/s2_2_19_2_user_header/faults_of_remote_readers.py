"""Faults that break rules of MS-MQMQ 2.2.19.2 in the messages that remote readers get."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition

_BASE_HEADER_SIZE = 16


@fault("server-remote-read-lacks-transaction-header-although-th-is-set", breaks="MQMQ-2.2.19.2-19", blind=True)
class ServerRemoteReadLacksTransactionHeaderAlthoughThIsSet(RemoteReads):
    """The server removes the TransactionHeader from a message that a remote reader gets, but leaves TH set."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        packet = cast(UserMessagePacket, parse_packet(data))
        if packet.TransactionHeader is None:
            return data
        start = _BASE_HEADER_SIZE + len(packet.UserHeader.build())
        end = start + len(packet.TransactionHeader.build())
        return correct_packet_size(data[:start] + data[end:])


def _remove_header_from_remotely_read_messages(build_part: Callable[[UserMessagePacket], bytes]) -> Install:
    """Remove a part from the messages that remote readers get, and leave the flag of the part set."""

    class MessagePartRemover(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            data = super().serialize_remote_message(position)
            part = build_part(cast(UserMessagePacket, parse_packet(data)))
            return correct_packet_size(data.replace(part, b"", 1)) if part else data

    return replace_part(MessagePartRemover)


def _build_connector_type(packet: UserMessagePacket) -> bytes:
    connector = packet.UserHeader.ConnectorType
    return b"" if connector is None else connector.bytes_le


for _name, _broken_rules, _says, _build_part in (
    (
        "server-remote-read-security-header-missing-with-sh",
        "MQMQ-2.2.19.2-18",
        "The server removes the SecurityHeader from a message that a remote reader gets, but leaves SH set.",
        lambda packet: b"" if packet.SecurityHeader is None else packet.SecurityHeader.build(),
    ),
    (
        "server-remote-read-connector-type-missing-with-cq",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "The server removes the ConnectorType from a message that a remote reader gets, but leaves CQ set.",
        _build_connector_type,
    ),
    (
        "server-remote-read-lists-of-queues-missing-with-mq",
        "MQMQ-2.2.19.2-23",
        "The server removes the MultiQueueFormatHeader from a message that a remote reader gets, but leaves MQ set.",
        lambda packet: b"" if packet.MultiQueueFormatHeader is None else packet.MultiQueueFormatHeader.build(),
    ),
):
    add(_name, _broken_rules, _says, _remove_header_from_remotely_read_messages(_build_part))
