"""Write the files with test vectors. There is one file for each kind of packet and one for each RPC operation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.vectors.packet_rows import VECTOR_LISTER_BY_PACKET_KIND
from harness.vectors.reading import find_refusal_reason, read_packet_fields, read_stub
from harness.vectors.rpc_rows import OPERATIONS_WITH_VECTORS, STUB_ARGUMENTS_BY_METHOD, list_stubs
from harness.vectors.vector import CodecTestVector, VectorRow
from harness.wire import WireError

VECTOR_SCHEMA_FILE = Path(__file__).with_name("schema.json")
SECTION_BY_FILE = {
    "ping": "MS-MQQB 2.2.7",
    "establish_connection": "MS-MQQB 2.2.3",
    "connection_parameters": "MS-MQQB 2.2.2",
    "session_ack": "MS-MQQB 2.2.6",
    "user_message": "MS-MQMQ 2.2.20",
}


def make_vector_files() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the content of each file; raise HarnessError if a codec contradicts the result that a vector
    states.
    """
    for kind, list_rows in VECTOR_LISTER_BY_PACKET_KIND.items():
        yield (
            f"{kind}.json",
            _build_vector_file(kind, SECTION_BY_FILE[kind], [_build_packet_vector(kind, row) for row in list_rows()]),
        )
    for operation in STUB_ARGUMENTS_BY_METHOD:
        vectors = [_build_stub_vector(operation, row) for row in list_stubs(operation)]
        yield (
            f"rpc_{operation}.json",
            _build_vector_file(operation, OPERATIONS_WITH_VECTORS[operation].section, vectors),
        )


def _build_vector_file(what: str, section: str, vectors: list[CodecTestVector]) -> dict[str, Any]:
    rows = [one.to_json() for one in vectors]
    return {
        "schema": 1,
        "generator": f"mqconform {version('mqconform')}",
        "what": what,
        "section": section,
        "vectors": rows,
    }


def _build_packet_vector(kind: str, row: VectorRow) -> CodecTestVector:
    refusal = find_refusal_reason(kind, row.data)
    if row.result == "invalid":
        if refusal is None:
            raise HarnessError(f"the vector {kind}/{row.name} is invalid, but the strict codec accepts it")
        return CodecTestVector(row, refusal=refusal)
    if refusal is not None:
        raise HarnessError(f"the vector {kind}/{row.name} is {row.result}, but the strict codec refuses it: {refusal}")
    return CodecTestVector(row, read_packet_fields(kind, row.data))


def _build_stub_vector(operation: str, row: VectorRow) -> CodecTestVector:
    try:
        fields = read_stub(operation, row.name, row.data)
    except WireError as error:
        if row.result == "valid":
            raise HarnessError(f"the vector {operation}/{row.name} is valid, but cannot be read: {error}") from error
        return CodecTestVector(row)
    if row.result == "invalid":
        raise HarnessError(f"the vector {operation}/{row.name} is invalid, but can be read")
    return CodecTestVector(row, fields)


def write_vector_files(folder: Path) -> dict[str, int]:
    """Write all files and the schema to an existing folder; return the number of vectors in each file."""
    written = {}
    for name, content in make_vector_files():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        written[name] = len(content["vectors"])
    (folder / VECTOR_SCHEMA_FILE.name).write_bytes(VECTOR_SCHEMA_FILE.read_bytes())
    return written
