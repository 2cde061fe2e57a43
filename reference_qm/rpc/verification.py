"""Handles the verification trailer after the stub data of a request. Spec: MS-RPCE 2.2.2.13."""

from __future__ import annotations

import struct

from reference_qm.rpc.bodies import Request
from reference_qm.rpc.contexts import PresentationContext
from reference_qm.rpc.header import PacketType
from reference_qm.rpc.syntaxes import NDR, NDR64, SyntaxId

SPEC_SECTION = "MS-RPCE 2.2.2.13"
VERIFICATION_TRAILER_SIGNATURE = bytes.fromhex("8ae3137102f43671")
_BITMASK_COMMAND, _PCONTEXT_COMMAND, _HEADER2_COMMAND = 1, 2, 3
_COMMAND_MASK, _LAST_COMMAND_FLAG, _MUST_PROCESS_FLAG = 0x3FFF, 0x4000, 0x8000
_SUPPORT_HEADER_SIGN_BIT = 1
_ALIGNMENT_BYTES = 4
_COMMAND_HEADER_LAYOUT = struct.Struct("<HH")
MAX_PADDING_BYTES = 16
"""The maximum number of padding bytes between the stub data and the trailer (note <39>)."""


class VerificationTrailerError(Exception):
    """Raised when a verification trailer contradicts its request."""


def strip_verification_trailer(
    stub: bytes, context: PresentationContext, first: Request, call_id: int, packed_drep: bytes, *, header_sign: bool
) -> tuple[bytes, bool]:
    """Return the stub data before a verification trailer, and whether a trailer was found. Raise
    VerificationTrailerError if the trailer contradicts the request. Padding may separate the stub data from the
    trailer; readers ignore the padding.
    """
    place = stub.rfind(VERIFICATION_TRAILER_SIGNATURE)
    if place < 0 or place % _ALIGNMENT_BYTES:
        return stub, False
    expected = {
        _PCONTEXT_COMMAND: _encode_syntax(context.interface.syntax) + _encode_syntax(NDR64 if context.wide else NDR),
        _HEADER2_COMMAND: struct.pack(
            "<B3x4sIHH", PacketType.REQUEST, packed_drep, call_id, first.p_cont_id, first.opnum
        ),
    }
    commands: list[tuple[int, bytes]] = []
    position = place + len(VERIFICATION_TRAILER_SIGNATURE)
    while not commands or not commands[-1][0] & _LAST_COMMAND_FLAG:
        if position + _COMMAND_HEADER_LAYOUT.size > len(stub):
            return stub, False  # the message contains octets that look like a trailer
        command, size = _COMMAND_HEADER_LAYOUT.unpack_from(stub, position)
        position += _COMMAND_HEADER_LAYOUT.size + size
        commands.append((command, stub[position - size : position]))
    if position != len(stub):
        return stub, False
    for command, value in commands:
        _check_verification_command(command, value, expected, header_sign)
    return stub[:place], True


def _encode_syntax(syntax: SyntaxId) -> bytes:
    return syntax.uuid.bytes_le + struct.pack("<I", syntax.version)


def _check_verification_command(command: int, value: bytes, expected: dict[int, bytes], header_sign: bool) -> None:
    kind = command & _COMMAND_MASK
    if kind == _BITMASK_COMMAND:
        promised = len(value) == 4 and value[0] & _SUPPORT_HEADER_SIGN_BIT
        true = len(value) == 4 and (header_sign or not promised)
    elif kind in expected:
        shown = value[:1] + bytes(3) + value[4:] if kind == _HEADER2_COMMAND else value
        true = shown == expected[kind]
    else:
        true = not command & _MUST_PROCESS_FLAG
    if not true:
        raise VerificationTrailerError(
            f"command {kind} of the verification trailer contradicts the request ({SPEC_SECTION})"
        )
