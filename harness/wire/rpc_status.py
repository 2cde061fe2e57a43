"""Name the return values of calls and the statuses of faults. Spec: MS-MQMQ 2.4, MS-ERREF 2; C706 N; MS-RPCE
2.2.2.4.
"""

from __future__ import annotations

RETURN_VALUE_NAMES = {
    0x00000000: "MQ_OK",
    0x400E03E9: "MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT",
    0xC0000008: "STATUS_INVALID_HANDLE",
    0xC000000D: "STATUS_INVALID_PARAMETER",
    0xC0000022: "STATUS_ACCESS_DENIED",
    0xC0000043: "STATUS_SHARING_VIOLATION",
    0xC0000120: "STATUS_CANCELLED",
    0xC0000225: "STATUS_NOT_FOUND",
    0xC00E0001: "MQ_ERROR",
    0xC00E0002: "MQ_ERROR_PROPERTY",
    0xC00E0003: "MQ_ERROR_QUEUE_NOT_FOUND",
    0xC00E0006: "MQ_ERROR_INVALID_PARAMETER",
    0xC00E0007: "MQ_ERROR_INVALID_HANDLE",
    0xC00E0008: "MQ_ERROR_OPERATION_CANCELLED",
    0xC00E0009: "MQ_ERROR_SHARING_VIOLATION",
    0xC00E001B: "MQ_ERROR_IO_TIMEOUT",
    0xC00E001C: "MQ_ERROR_ILLEGAL_CURSOR_ACTION",
    0xC00E001D: "MQ_ERROR_MESSAGE_ALREADY_RECEIVED",
    0xC00E001E: "MQ_ERROR_ILLEGAL_FORMATNAME",
    0xC00E0025: "MQ_ERROR_ACCESS_DENIED",
    0xC00E004B: "MQ_ERROR_QUEUE_NOT_AVAILABLE",
    0xC00E0050: "MQ_ERROR_TRANSACTION_USAGE",
    0xC00E0051: "MQ_ERROR_TRANSACTION_SEQUENCE",
    0xC00E0088: "MQ_ERROR_MESSAGE_NOT_FOUND",
}
"""The name of each HRESULT or NTSTATUS, by value."""

NAME_BY_FAULT_STATUS = {
    0x00000005: "ERROR_ACCESS_DENIED",
    0x000006F7: "RPC_X_BAD_STUB_DATA",
    0x000006E6: "RPC_S_PROCNUM_OUT_OF_RANGE",
    0x1C00000D: "nca_s_fault_cancel",
    0x1C000012: "nca_s_fault_unspec",
    0x1C00001A: "nca_s_fault_context_mismatch",
    0x1C010002: "nca_s_op_rng_error",
    0x1C010003: "nca_s_unk_if",
    0x1C01000B: "nca_s_proto_error",
    0x1C010014: "nca_s_server_too_busy",
}
"""The name of each fault status, by value. A fault status that is not listed is an HRESULT that was sent as a
fault.
"""


def get_status_name(status: int) -> str:
    """Return the name of a call's return value."""
    return RETURN_VALUE_NAMES.get(status, f"{status:#010x}")


def get_fault_name(status: int) -> str:
    """Return the name of a fault status."""
    return f"fault {NAME_BY_FAULT_STATUS.get(status) or get_status_name(status)}"


def is_failure(status: int) -> bool:
    """Return whether a status is an HRESULT that reports a failure. The severity bit of such an HRESULT is set.
    Spec: MS-MQQP 2.2.
    """
    return status >> 31 == 1
