"""Parses and builds the SecurityHeader and its data. Spec: MS-MQMQ 2.2.20.6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from reference_qm.codec import security_data, text
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U16, U32, Layout
from reference_qm.codec.padding import build_padding, omit_zero_padding
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags

SECURITY_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.6"
_SECURITY_HEADER_LAYOUT = Layout(
    "SecurityHeader",
    SECURITY_HEADER_SPEC_SECTION,
    Flags=U16,
    SenderIdSize=U16,
    EncryptionKeySize=U16,
    SignatureSize=U16,
    SenderCertSize=U32,
    ProviderInfoSize=U32,
)
_PROVIDER_INFO_LAYOUT = Layout("ProviderInfo", SECURITY_HEADER_SPEC_SECTION, ProviderType=U32)
_SECURITY_DATA_ITEMS = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")
_EMPTY_SECURITY_DATA = security_data.SecurityData()


@dataclass(frozen=True, slots=True)
class SecurityHeader(RecordWithBitFlags, Record):
    """The sender, signature and encryption of a message.

    Spec: MS-MQMQ 2.2.20.6. 16 bytes, then the data. Flags u16 LE. The sizes, which are computed, determine which
    data are present. The bit AI does not, because the packet of MS-MQQB 4.1.7 contains data although AI is clear.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.6"

    Flags: int = 0
    SecurityData: security_data.SecurityData = _EMPTY_SECURITY_DATA

    ST = Bits(0, 4)
    AU = Bits(4)
    EB = Bits(5)
    DE = Bits(6)
    AI = Bits(7)
    AS = Bits(8, 4)
    X12 = Bits(12)
    X13 = Bits(13)
    X14 = Bits(14)
    X15 = Bits(15)

    @property
    def SenderIdSize(self) -> int:  # noqa: N802 - the printed name
        """The size of SecurityData.SecurityID in bytes."""
        return len(self.SecurityData.SecurityID)

    @property
    def EncryptionKeySize(self) -> int:  # noqa: N802 - the printed name
        """The size of SecurityData.EncryptionKey in bytes."""
        return len(self.SecurityData.EncryptionKey)

    @property
    def SignatureSize(self) -> int:  # noqa: N802 - the printed name
        """The size of SecurityData.Signature in bytes."""
        return len(self.SecurityData.Signature)

    @property
    def SenderCertSize(self) -> int:  # noqa: N802 - the printed name
        """The size of SecurityData.SenderCert in bytes."""
        return len(self.SecurityData.SenderCert)

    @property
    def ProviderInfoSize(self) -> int:  # noqa: N802 - the printed name
        """The size of SecurityData.ProviderInfo in bytes."""
        return len(self.SecurityData.ProviderInfo)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        flags, *sizes = cursor.unpack(_SECURITY_HEADER_LAYOUT)
        items: dict[str, bytes] = {}
        padding = b""
        for name, size in zip(_SECURITY_DATA_ITEMS, sizes, strict=True):
            items[name] = cursor.read_bytes(size, f"SecurityData.{name}", SECURITY_HEADER_SPEC_SECTION)
            padding += cursor.read_alignment_padding(4, f"SecurityData.{name}", SECURITY_HEADER_SPEC_SECTION)
        return cls(flags, security_data.SecurityData(**items, Padding=omit_zero_padding(padding)))

    def build(self) -> bytes:
        data = self.SecurityData
        items = (data.SecurityID, data.EncryptionKey, data.Signature, data.SenderCert, data.ProviderInfo)
        gaps = [-len(item) % 4 for item in items]
        padding = build_padding(sum(gaps), data.Padding, "SecurityData")
        wire = [_SECURITY_HEADER_LAYOUT.pack(self.Flags, *map(len, items))]
        for item, gap in zip(items, gaps, strict=True):
            wire += (item, padding[:gap])
            padding = padding[gap:]
        return b"".join(wire)


@dataclass(frozen=True, slots=True)
class ProviderInfo(Record):
    """The content of SecurityData.ProviderInfo.

    Spec: MS-MQMQ 2.2.20.6. ProviderType u32 LE; ProviderName: text without its terminating null.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.6"

    ProviderType: int = 0
    ProviderName: str = ""

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        (provider_type,) = cursor.unpack(_PROVIDER_INFO_LAYOUT)
        return cls(
            provider_type,
            text.decode_wchars(
                cursor.read_wchars_up_to_marker(
                    text.NULL_WCHAR, "ProviderInfo.ProviderName", SECURITY_HEADER_SPEC_SECTION
                )
            ),
        )

    def build(self) -> bytes:
        return _PROVIDER_INFO_LAYOUT.build(self) + text.append_terminator(self.ProviderName, terminated=True)
