"""Faults that break rules of MS-MQQB 2.4.2."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.securing import Securing
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("sender-simple-blob-of-cached-key-without-trailing-zeros", breaks="MQQB-2.4.2-D01", blind=True)
class SenderSimpleBlobOfCachedKeyWithoutTrailingZeros(Securing):
    """The sender sends a SIMPLEBLOB whose encryptedKey has 64 or 128 bytes, if the symmetric key was taken from the
    cache.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent: set[bytes] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        if header is None or not header.EB:
            return encrypted
        blob = header.SecurityData.EncryptionKey
        if blob in self.sent:
            data = replace(header.SecurityData, EncryptionKey=blob.rstrip(b"\0"))
            encrypted = replace(encrypted, SecurityHeader=replace(header, SecurityData=data))
        self.sent.add(blob)
        return encrypted
