"""List the test vectors of RPC stubs: the request and the response of each operation, encoded in NDR and in NDR64,
complete and truncated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.vectors.covering import SAMPLE_GUIDS
from harness.vectors.vector import VectorRow
from harness.wire.rpc_qm2qm import (
    LOOKUP_ID_AFTER_LAST,
    LOOKUP_PEEK_PREV,
    PEEK_NEXT,
    QM2QM_OPERATIONS,
    REMOTEREADDESC,
    RR_ACK,
    build_desc2,
)
from harness.wire.rpc_qmcomm import DIRECT, JOURNAL, PRIVATE, PUBLIC, QMCOMM_OPERATIONS, queue_format
from harness.wire.rpc_stub import Operation, build_byte_array_pointer, build_pointer

OPERATIONS_WITH_VECTORS: Mapping[str, Operation] = {**QM2QM_OPERATIONS, **QMCOMM_OPERATIONS}
SAMPLE_CONTEXT_HANDLE = bytes(4) + SAMPLE_GUIDS[7].bytes_le
"""A context handle that consists of attributes with the value zero and a GUID (C706 14.3.9.4, ndr_context_handle).
"""


def _build_read_description(**fields: Any) -> Any:
    return REMOTEREADDESC(hRemoteQueue=0x11, hCursor=0x22, ulTimeout=5_000, dwQueue=0x33, dwRequestID=7, **fields)


def _build_description_with_message(size: int) -> Any:
    data = bytes(index % 251 for index in range(size))
    return _build_read_description(
        dwSize=size, lpBuffer=build_byte_array_pointer(data), eAckNack=RR_ACK, dwArriveTime=0x6920_0000
    )


StubArguments = Mapping[str, Any]
STUB_ARGUMENTS_BY_METHOD: Mapping[str, tuple[tuple[StubArguments, ...], tuple[StubArguments, ...]]] = {
    "RemoteQMStartReceive": (
        (
            {"lpRemoteReadDesc": _build_read_description()},
            {"lpRemoteReadDesc": _build_read_description(ulAction=PEEK_NEXT)},
        ),
        (
            {"pphContext": SAMPLE_CONTEXT_HANDLE, "lpRemoteReadDesc": _build_description_with_message(13)},
            {"lpRemoteReadDesc": _build_read_description(), "Return": 0xC00E001B},
        ),
    ),
    "RemoteQMEndReceive": (
        ({"pphContext": SAMPLE_CONTEXT_HANDLE, "dwAck": 1}, {"pphContext": SAMPLE_CONTEXT_HANDLE, "dwAck": 2}),
        ({},),
    ),
    "RemoteQMOpenQueue": (
        ({"pLicGuid": SAMPLE_GUIDS[0].bytes_le, "dwMQS": 2, "hQueue": 1, "pQueue": 2, "dwpContext": 3},),
        ({"phContext": SAMPLE_CONTEXT_HANDLE}, {"Return": 0xC00E0003}),
    ),
    "RemoteQMCloseQueue": (({"pphContext": SAMPLE_CONTEXT_HANDLE},), ({},)),
    "RemoteQMCloseCursor": (({"hQueue": 1, "hCursor": 2},), ({}, {"Return": 0xC0000008})),
    "RemoteQMCancelReceive": (({"hQueue": 1, "pQueue": 2, "dwRequestID": 3},), ({}, {"Return": 0xC0000008})),
    "RemoteQMPurgeQueue": (({"hQueue": 0xFFFF_FFFF},), ({}, {"Return": 0xC00E0025})),
    "RemoteQMGetQMQMServerPort": (({"dwPortType": 0}, {"dwPortType": 1}), ({"Return": 2105}, {"Return": 0})),
    "RemoteQmGetVersion": (({},), ({"pMajor": 6, "pMinor": 3, "pBuildNumber": 9600},)),
    "RemoteQMStartReceive2": (
        ({"lpRemoteReadDesc2": build_desc2(_build_read_description())},),
        (
            {
                "pphContext": SAMPLE_CONTEXT_HANDLE,
                "lpRemoteReadDesc2": build_desc2(_build_description_with_message(8), 0x0011_2233_4455_6677),
            },
        ),
    ),
    "RemoteQMStartReceiveByLookupId": (
        (
            {
                "LookupId": LOOKUP_ID_AFTER_LAST,
                "lpRemoteReadDesc2": build_desc2(_build_read_description(ulAction=LOOKUP_PEEK_PREV)),
            },
        ),
        (
            {
                "pphContext": SAMPLE_CONTEXT_HANDLE,
                "lpRemoteReadDesc2": build_desc2(_build_description_with_message(1), 1),
            },
        ),
    ),
    "R_QMOpenRemoteQueue": (
        (
            _opened := {"pLicGuid": SAMPLE_GUIDS[0].bytes_le, "dwDesiredAccess": 1, "dwMQS": 2},
            {**_opened, "pQueueFormat": build_pointer(queue_format(DIRECT, "OS:a\\q"))},
            {**_opened, "pQueueFormat": build_pointer(queue_format(PUBLIC, SAMPLE_GUIDS[1], JOURNAL))},
            {**_opened, "pQueueFormat": build_pointer(queue_format(PRIVATE, (SAMPLE_GUIDS[1], 0x1F)))},
        ),
        ({"pphContext": SAMPLE_CONTEXT_HANDLE, "pdwContext": 1, "dwpQueue": 2, "phQueue": 3}, {"Return": 0xC00E0003}),
    ),
    "R_QMCloseRemoteQueueContext": (({"pphContext": SAMPLE_CONTEXT_HANDLE},), ({},)),
    "R_QMGetRTQMServerPort": (({"fIP": 0},), ({"Return": 2103},)),
}
"""The arguments of requests and the results of responses, by operation."""


def list_stubs(operation: str) -> Iterator[VectorRow]:
    """Yield the test vectors of an operation. Each stub occurs in NDR and in NDR64, both complete and without its last
    byte.
    """
    known = OPERATIONS_WITH_VECTORS[operation]
    for direction, cases in zip(("request", "response"), STUB_ARGUMENTS_BY_METHOD[operation], strict=True):
        build = known.build_request if direction == "request" else known.build_response
        for number, values in enumerate(cases):
            for wide in (False, True):
                name = f"{direction}-{number}-{'ndr64' if wide else 'ndr'}"
                comment = f"{known.section} {operation}, {direction} in {'NDR64' if wide else 'NDR'}."
                data = build(wide, **values)
                yield VectorRow(name, data, "valid", comment)
                if data:
                    yield VectorRow(f"{name}-cut", data[:-1], "invalid", f"{comment[:-1]}; the last byte is missing.")
