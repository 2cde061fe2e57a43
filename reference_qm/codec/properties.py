"""Parses and builds the MessagePropertiesHeader, which contains the properties and the body of a message. Spec:
MS-MQMQ 2.2.19.3.
"""

from __future__ import annotations

from typing import ClassVar, Self

from reference_qm.codec import text
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U8, U16, U32, Layout
from reference_qm.codec.padding import build_padding
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.value_object import value_object

MESSAGE_PROPERTIES_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.19.3"
_MESSAGE_PROPERTIES_HEADER_LAYOUT = Layout(
    "MessagePropertiesHeader",
    MESSAGE_PROPERTIES_HEADER_SPEC_SECTION,
    Flags=U8,
    LabelLength=U8,
    MessageClass=U16,
    CorrelationID="20s",
    BodyType=U32,
    ApplicationTag=U32,
    MessageSize=U32,
    AllocationBodySize=U32,
    PrivacyLevel=U32,
    HashAlgorithm=U32,
    EncryptionAlgorithm=U32,
    ExtensionSize=U32,
)


@value_object
class MessagePropertiesHeader(RecordWithBitFlags, Record):
    """The properties, label, extension and body of a message, padded to a multiple of 4 bytes.

    Spec: MS-MQMQ 2.2.19.3. Flags u8 (PA, PR, NA and NR are bits 0 to 3); MessageClass u16 LE; CorrelationID 20
    bytes (a MessageIdentifier in acknowledgments); BodyType, ApplicationTag, PrivacyLevel, HashAlgorithm,
    EncryptionAlgorithm u32 LE; AllocationBodySize u32 LE bytes (None means that ``build`` writes the size of
    MessageBody); Label: text without its terminating null, or None for a LabelLength of 0; LabelTerminated: whether
    the label has its terminating null; ExtensionData and MessageBody bytes; Padding: stored as in the module
    ``padding``. LabelLength, MessageSize and ExtensionSize are computed.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.19.3"

    Flags: int = 0
    MessageClass: int = 0
    CorrelationID: bytes = bytes(20)
    BodyType: int = 0
    ApplicationTag: int = 0
    AllocationBodySize: int | None = None
    PrivacyLevel: int = 0
    HashAlgorithm: int = 0
    EncryptionAlgorithm: int = 0
    Label: str | None = None
    ExtensionData: bytes = b""
    MessageBody: bytes = b""
    LabelTerminated: bool = True
    Padding: bytes | None = None

    PA = Bits(0)
    PR = Bits(1)
    NA = Bits(2)
    NR = Bits(3)

    @property
    def LabelLength(self) -> int:  # noqa: N802 - the printed name
        """The size of the label on the wire in WCHARs, including the terminating null."""
        return 0 if self.Label is None else len(self._encode_label()) // 2

    @property
    def MessageSize(self) -> int:  # noqa: N802 - the printed name
        """The size of MessageBody in bytes."""
        return len(self.MessageBody)

    @property
    def ExtensionSize(self) -> int:  # noqa: N802 - the printed name
        """The size of ExtensionData in bytes."""
        return len(self.ExtensionData)

    def _encode_label(self) -> bytes:
        return b"" if self.Label is None else text.append_terminator(self.Label, self.LabelTerminated)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        (
            flags,
            label_length,
            message_class,
            correlation,
            body_type,
            tag,
            body_size,
            allocation,
            privacy,
            hashing,
            encryption,
            extension_size,
        ) = cursor.unpack(_MESSAGE_PROPERTIES_HEADER_LAYOUT)
        label: str | None = None
        terminated = True
        if label_length:
            label, terminated = text.split_terminator(
                cursor.read_bytes(
                    2 * label_length, "MessagePropertiesHeader.Label", MESSAGE_PROPERTIES_HEADER_SPEC_SECTION
                )
            )
        extension = b""
        if extension_size:
            extension = cursor.read_bytes(
                extension_size, "MessagePropertiesHeader.ExtensionData", MESSAGE_PROPERTIES_HEADER_SPEC_SECTION
            )
        body = cursor.read_bytes(
            body_size, "MessagePropertiesHeader.MessageBody", MESSAGE_PROPERTIES_HEADER_SPEC_SECTION
        )
        return cls(
            flags,
            message_class,
            correlation,
            body_type,
            tag,
            allocation,
            privacy,
            hashing,
            encryption,
            label,
            extension,
            body,
            terminated,
            cursor.read_nonzero_padding(4, "MessagePropertiesHeader.Padding", MESSAGE_PROPERTIES_HEADER_SPEC_SECTION),
        )

    def build(self) -> bytes:
        label = self._encode_label()
        body_size = len(self.MessageBody)
        head = _MESSAGE_PROPERTIES_HEADER_LAYOUT.pack(
            self.Flags,
            len(label) // 2,
            self.MessageClass,
            self.CorrelationID,
            self.BodyType,
            self.ApplicationTag,
            body_size,
            body_size if self.AllocationBodySize is None else self.AllocationBodySize,
            self.PrivacyLevel,
            self.HashAlgorithm,
            self.EncryptionAlgorithm,
            len(self.ExtensionData),
        )
        wire = head + label + self.ExtensionData + self.MessageBody
        return wire + build_padding(-len(wire) % 4, self.Padding, "MessagePropertiesHeader")
