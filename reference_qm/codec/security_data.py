"""Defines SecurityData, the content of a SecurityHeader. Spec: MS-MQMQ 2.2.20.6."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecurityData:
    """The variable items of a SecurityHeader, each padded to a multiple of 4 bytes.

    Spec: MS-MQMQ 2.2.20.6. Each item is a byte string, which is empty if the item is absent. Padding: the padding
    bytes of all items in order, stored as in the module ``padding``.
    """

    SecurityID: bytes = b""
    EncryptionKey: bytes = b""
    Signature: bytes = b""
    SenderCert: bytes = b""
    ProviderInfo: bytes = b""
    Padding: bytes | None = None
