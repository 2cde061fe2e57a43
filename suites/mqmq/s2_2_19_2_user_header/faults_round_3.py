"""Faults that break rules of MS-MQMQ 2.2.19.2 UserHeader."""

from __future__ import annotations

from typing import cast

from harness.faults.parts import fault
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import UserMessagePacket, parse_packet
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition

_BASE_HEADER_SIZE = 16


@fault("server-remote-read-transaction-header-missing-with-th", breaks="MQMQ-2.2.19.2-19", blind=True)
class ServerRemoteReadTransactionHeaderMissingWithTh(RemoteReads):
    """The server removes the TransactionHeader from a message that a remote reader gets, but leaves TH set."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        data = super().serialize_remote_message(position)
        packet = cast(UserMessagePacket, parse_packet(data))
        if packet.TransactionHeader is None:
            return data
        start = _BASE_HEADER_SIZE + len(packet.UserHeader.build())
        end = start + len(packet.TransactionHeader.build())
        return correct_packet_size(data[:start] + data[end:])
