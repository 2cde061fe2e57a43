"""The errors for bytes that are no PDU or no stub; a mistake of the caller is codec's MisuseError."""

from __future__ import annotations

from reference_qm.codec.format_error import FormatError


class PduError(FormatError):
    """Bytes that do not have the structure of a connection-oriented PDU. Spec: C706 12.6; MS-RPCE 2.2.2."""


class StubError(FormatError):
    """A stub that is not what its method declares. Spec: C706 14; MS-RPCE 2.2.5, 3.1.1.5.3."""
