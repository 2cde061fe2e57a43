"""Faults that break rules of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer, written without knowing the checks."""

from __future__ import annotations

from harness.faults.fields import change_number_in_field
from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.sent_messages import set_packet_size
from reference_qm.codec import UserMessagePacket
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.security import EncryptionAlgorithm


@fault("server-remote-read-packet-size-zero", breaks="MQDMPR-3.1.7.1.32-04", blind=True)
class ServerRemoteReadPacketSizeZero(RemoteReads):
    """In the answer to a remote read, the server leaves the PacketSize of the UserMessage Packet at 0."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return set_packet_size(super().serialize_remote_message(position), 0)


def _replace_aes_192_algorithm(algorithm: int) -> int:
    return EncryptionAlgorithm.AES256 if algorithm == EncryptionAlgorithm.AES192 else algorithm


add(
    "sender-message-encryption-algorithm-of-aes-192-number-of-aes-256",
    "MQDMPR-3.1.7.1.32-D12",
    "The sender writes the number of AES 256 to EncryptionAlgorithm of a message that is encrypted with AES 192.",
    change_number_in_field(
        UserMessagePacket, "MessagePropertiesHeader.EncryptionAlgorithm", _replace_aes_192_algorithm
    ),
    blind=True,
)
