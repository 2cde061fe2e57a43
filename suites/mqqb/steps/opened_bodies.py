"""Steps that read messages that the SUT encrypts for the peer, and decrypt them with the peer's private keys."""

from __future__ import annotations

from collections.abc import Mapping

from harness.capture.recorder import Frame
from harness.sut.provisioning import load_peer_keys
from harness.wire.protection import AES_128, AES_192, AES_256, RC2, RC4, RsaKey, decrypt_body, decrypt_session_key

EncryptionChoice = tuple[str, int, int]
"""A provider, an algorithm, and the number of bits of a key."""


def describe_encryption_choice(choice: EncryptionChoice) -> dict[str, str | int]:
    """Return the names of the provider, the algorithm and the number of bits, for verdicts."""
    return dict(zip(("provider", "EncryptionAlgorithm", "key_bits"), choice, strict=True))


class DecryptedMessage:
    """Decrypt a message, if it is encrypted, with the peer's private key of the provider that the message names."""

    def __init__(self, frame: Frame, keys: Mapping[str, RsaKey] | None = None) -> None:
        self.frame = frame
        self.properties = frame["MessagePropertiesHeader"]
        security = frame["SecurityHeader"] if frame["UserHeader"].SH else None
        self.encrypted = bool(security and security.EB)
        info = bytes(security.ProviderInfo) if security else b""
        self.provider = info[4:].decode("utf-16-le", "replace") if info else "none"
        self.blob = bytes(security.EncryptionKey) if security else b""
        self.algorithm = int(self.properties.EncryptionAlgorithm)
        key = (keys or load_peer_keys()).get(self.provider.rstrip("\0"))
        whole = len(self.blob) == 12 + 256 and self.blob[:2] == b"\1\2"
        self.key = decrypt_session_key(self.blob, key) if key and whole else None

    @property
    def body(self) -> str | None:
        """Return the decrypted body, or None if the body cannot be decrypted."""
        sizes = {RC2: (5, 16), RC4: (5, 16), AES_128: (16,), AES_192: (24,), AES_256: (32,)}
        if self.key is None or len(self.key) not in sizes.get(self.algorithm, ()):
            return None
        clear = decrypt_body(bytes(self.properties.MessageBody), self.algorithm, self.key)
        return None if clear is None else clear.decode(errors="replace")

    @property
    def choice(self) -> EncryptionChoice:
        """Return the provider, the algorithm, and the number of bits of the key."""
        return self.provider.rstrip("\0"), self.algorithm, 8 * len(self.key or b"")
