"""Defines the errors for malformed PDUs and stubs. An error of the caller is a MisuseError of ``codec``."""

from __future__ import annotations

from reference_qm.codec.format_error import FormatError


class PduError(FormatError):
    """Raised for bytes that are not a connection-oriented PDU. Spec: C706 12.6; MS-RPCE 2.2.2."""


class StubError(FormatError):
    """Raised for a stub that contradicts the declaration of its method. Spec: C706 14; MS-RPCE 2.2.5, 3.1.1.5.3."""
