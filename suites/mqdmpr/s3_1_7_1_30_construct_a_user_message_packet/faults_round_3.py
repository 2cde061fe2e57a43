"""Faults that break rules of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition


@fault("server-signed-message-without-security-header-to-reader", breaks="MQDMPR-3.1.7.1.30-D02", blind=True)
class ServerSignedMessageWithoutSecurityHeaderToReader(RemoteReads):
    """The packet of a signed message that the server returns to a remote reader has no SecurityHeader."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        message = position.MessageReference
        if message.security is None or not message.security.AuthenticationLevel:
            return super().serialize_remote_message(position)
        return serialize_message(replace(message, security=None)).build()
