"""MS-MQQP 3.1.4, MS-MQMP 3.1.4.2 to 3.1.4.4, C706 14, MS-RPCE 2.2.5: the stubs of the methods, compared
byte by byte.
"""

from uuid import UUID

import pytest
from rpc_made import DESC, LICENCE

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc import EPT, QM2QM, QMCOMM, StubError
from reference_qm.rpc.interfaces.method import declare_in_parameter, declare_method
from reference_qm.rpc.interfaces.qmcomm_types import CACTRANSFERBUFFERV1, build_zeroed_transfer_buffer
from reference_qm.rpc.ndr import Struct, StubEncoding, Union
from reference_qm.rpc.ndr.types import UnsignedIntegerType

NDR, NDR64, BIG = StubEncoding(), StubEncoding(wide=True), StubEncoding(order=">")
HANDLE = UUID("33221100-5544-7766-8899-aabbccddeeff")
HANDLE_WIRE = "00000000 00112233445566778899aabbccddeeff"
FULL = {**DESC, "dwSize": 3, "dwArriveTime": 0x5E0BE100, "eAckNack": 2, "lpBuffer": b"abc", "Reserved": 1}
EIGHT = "07000000 00000000 00000000 00000000 03000000 07000000 01000000 01000000"
EMPTY_EIGHT = "07000000 00000000 00000000 00000000 00000000 07000000 01000000 00000000"

REQUESTS = {
    "0 NDR": (QM2QM, 0, NDR, {"lpRemoteReadDesc": DESC}, f"{EMPTY_EIGHT} 00000000 0000 0000 00000000"),
    "0 NDR64": (QM2QM, 0, NDR64, {"lpRemoteReadDesc": DESC}, f"{EMPTY_EIGHT} 00000000 00000000 0000000000000000"),
    "0 NDR, with a buffer": (
        *(QM2QM, 0, NDR, {"lpRemoteReadDesc": FULL}),
        f"{EIGHT} 00e10b5e 0200 0000 00000200 03000000 00000000 03000000 616263",
    ),
    "0 NDR64, with a buffer": (
        *(QM2QM, 0, NDR64, {"lpRemoteReadDesc": FULL}),
        f"{EIGHT} 00e10b5e 02000000 0000020000000000 0300000000000000 0000000000000000 0300000000000000 616263",
    ),
    "0 NDR big-endian": (
        *(QM2QM, 0, BIG, {"lpRemoteReadDesc": FULL}),
        "00000007 00000000 00000000 00000000 00000003 00000007 00000001 00000001"
        "5e0be100 0002 0000 00020000 00000003 00000000 00000003 616263",
    ),
    "1": (QM2QM, 1, NDR, {"pphContext": HANDLE, "dwAck": 2}, f"{HANDLE_WIRE} 02000000"),
    "1 NDR64": (QM2QM, 1, NDR64, {"pphContext": HANDLE, "dwAck": 1}, f"{HANDLE_WIRE} 01000000"),
    "1 big-endian": (
        *(QM2QM, 1, BIG, {"pphContext": HANDLE, "dwAck": 1}),
        "00000000 33221100 5544 7766 8899aabbccddeeff 00000001",
    ),
    "2": (
        *(QM2QM, 2, NDR, {"pLicGuid": LICENCE, "dwMQS": 16, "hQueue": 1, "pQueue": 2, "dwpContext": 3}),
        "33221100554477668899aabbccddeeff 10000000 01000000 02000000 03000000",
    ),
    "3 with NULL": (QM2QM, 3, NDR, {"pphContext": None}, "00" * 20),
    "4": (QM2QM, 4, NDR, {"hQueue": 1, "hCursor": 2}, "01000000 02000000"),
    "5": (QM2QM, 5, NDR, {"hQueue": 1, "pQueue": 1, "dwRequestID": 9}, "01000000 01000000 09000000"),
    "6": (QM2QM, 6, NDR, {"hQueue": 0xFFFFFFFF}, "ffffffff"),
    "7": (QM2QM, 7, NDR, {"dwPortType": 3}, "03000000"),
    "8": (QM2QM, 8, NDR, {}, ""),
    "9 NULL": (
        *(QM2QM, 9, NDR, {"lpRemoteReadDesc2": {"pRemoteReadDesc": None, "SequentialId": 0x0102}}),
        "00000000 00000000 0201000000000000",
    ),
    "9": (
        *(QM2QM, 9, NDR, {"lpRemoteReadDesc2": {"pRemoteReadDesc": FULL, "SequentialId": 0x0102}}),
        f"00000200 00000000 0201000000000000 {EIGHT} 00e10b5e 0200 0000 04000200 03000000 00000000 03000000 616263",
    ),
    "9 NDR64": (
        *(QM2QM, 9, NDR64, {"lpRemoteReadDesc2": {"pRemoteReadDesc": DESC, "SequentialId": 0}}),
        f"0000020000000000 0000000000000000 {EMPTY_EIGHT} 00000000 00000000 0000000000000000",
    ),
    "10": (
        *(QM2QM, 10, NDR),
        {"LookupId": 0xFFFFFFFFFFFFFFFF, "lpRemoteReadDesc2": {"pRemoteReadDesc": None, "SequentialId": 0}},
        "ffffffffffffffff 00000000 00000000 0000000000000000",
    ),
    "qmcomm 2": (
        *(QMCOMM, 2, NDR),
        {
            "pQueueFormat": {"m_qft": 3, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": "OS:h"},
            "dwCallingProcessID": 0,
            "dwDesiredAccess": 1,
            "dwShareMode": 0,
            "pLicGuid": LICENCE,
            "dwMQS": 0x500,
        },
        "00000200 03 00 0000 03 000000 04000200 05000000 00000000 05000000 4f0053003a0068000000 0000"
        "00000000 01000000 00000000 33221100554477668899aabbccddeeff 00050000",
    ),
    "qmcomm 2 NDR64": (
        *(QMCOMM, 2, NDR64),
        {
            "pQueueFormat": {"m_qft": 2, "m_SuffixAndFlags": 0, "m_reserved": 0}
            | {"union": {"Lineage": LICENCE, "Uniquifier": 5}},
            "dwCallingProcessID": 0,
            "dwDesiredAccess": 1,
            "dwShareMode": 0,
            "pLicGuid": LICENCE,
            "dwMQS": 0,
        },
        "0000020000000000 02 00 0000 00000000 02 00000000000000 33221100554477668899aabbccddeeff 05000000 00000000"
        "00000000 01000000 00000000 33221100554477668899aabbccddeeff 00000000",
    ),
    "qmcomm 2 NULL": (
        *(QMCOMM, 2, NDR),
        {"pQueueFormat": None, "dwCallingProcessID": 0, "dwDesiredAccess": 0, "dwShareMode": 0}
        | {"pLicGuid": LICENCE, "dwMQS": 0},
        "00000000 00000000 00000000 00000000 33221100554477668899aabbccddeeff 00000000",
    ),
    "qmcomm 3": (QMCOMM, 3, NDR, {"pphContext": HANDLE}, HANDLE_WIRE),
    "qmcomm 31": (QMCOMM, 31, NDR, {"fIP": 9}, "09000000"),
    "ept_map": (
        *(EPT, 3, NDR),
        {"obj": None, "map_tower": {"tower_length": 2, "tower_octet_string": b"\0\0"}, "entry_handle": None}
        | {"max_towers": 4},
        f"00000000 00000200 02000000 02000000 0000 0000 {'00' * 20} 04000000",
    ),
    "ept_map NDR64": (
        *(EPT, 3, NDR64),
        {"obj": LICENCE, "map_tower": {"tower_length": 1, "tower_octet_string": b"\0"}, "entry_handle": None}
        | {"max_towers": 4},
        "0000020000000000 33221100554477668899aabbccddeeff 0400020000000000 0100000000000000 01000000 00 000000"
        f"{'00' * 20} 04000000",
    ),
}

RESPONSES = {
    "0": (
        *(QM2QM, 0, NDR, {}),
        {"pphContext": HANDLE, "lpRemoteReadDesc": FULL, "Return": 0},
        f"{HANDLE_WIRE} {EIGHT} 00e10b5e 0200 0000 00000200 03000000 00000000 03000000 616263 00 00000000",
    ),
    "0 NDR64": (
        *(QM2QM, 0, NDR64, {}),
        {"pphContext": HANDLE, "lpRemoteReadDesc": FULL, "Return": 0},
        f"{HANDLE_WIRE} 00000000 {EIGHT} 00e10b5e 02000000 0000020000000000"
        "0300000000000000 0000000000000000 0300000000000000 616263 00 00000000",
    ),
    "2": (QM2QM, 2, NDR, {}, {"phContext": None, "Return": 0xC00E0006}, "00" * 20 + "06000ec0"),
    "8": (QM2QM, 8, NDR, {}, {"pMajor": 6, "pMinor": 1, "pBuildNumber": 6531}, "06 01 8319"),
    "qmcomm 2": (
        *(QMCOMM, 2, NDR, {}),
        {"pphContext": HANDLE, "pdwContext": 7, "dwpQueue": 7, "phQueue": 7, "Return": 0},
        f"{HANDLE_WIRE} 07000000 07000000 07000000 00000000",
    ),
    "qmcomm 3": (QMCOMM, 3, NDR, {}, {"pphContext": None}, "00" * 20),
    "qmcomm 4": (QMCOMM, 4, NDR, {}, {"phCursor": 3, "Return": 0}, "03000000 00000000"),
    "ept_map": (
        *(EPT, 3, NDR, {"max_towers": 4}),
        {"entry_handle": None, "num_towers": 2, "status": 0}
        | {"ITowers": [{"tower_length": n, "tower_octet_string": b"x" * n} for n in (1, 2)]},
        f"{'00' * 20} 02000000 04000000 00000000 02000000 00000200 04000200"
        "01000000 01000000 78 000000 02000000 02000000 7878 0000 00000000",
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_request_stub_has_exact_bytes(name):
    interface, opnum, encoding, arguments, wire = REQUESTS[name]
    method = interface.methods[opnum]
    assert method.build_in_parameters(arguments, encoding) == bytes.fromhex(wire)
    assert method.read_in_parameters(bytes.fromhex(wire), encoding) == arguments


@pytest.mark.parametrize("name", RESPONSES)
def test_response_stub_has_exact_bytes(name):
    interface, opnum, encoding, arguments, results, wire = RESPONSES[name]
    method = interface.methods[opnum]
    assert method.build_out_parameters(results, encoding, arguments) == bytes.fromhex(wire)
    assert method.read_out_parameters(bytes.fromhex(wire), encoding, arguments) == results


def test_opnums_of_rpc_methods_equal_those_of_the_documents():
    assert [QM2QM.methods[opnum].section for opnum in range(11)] == [f"MS-MQQP 3.1.4.{n}" for n in range(1, 12)]
    assert sorted(QMCOMM.methods) == [2, 3, 4, 10, 31]


@pytest.mark.parametrize("encoding", [NDR, NDR64])
def test_a_zeroed_transfer_buffer_is_read_as_windows_sends_it(encoding):
    """A CACTransferBuffer whose 56 fields are zero or NULL pointers, as Windows sends it, can be read (MS-MQMP note
    <29>).
    """
    stub = bytes(CACTRANSFERBUFFERV1.get_least_size(encoding))
    arguments = {"ptb1": build_zeroed_transfer_buffer(), "hQueue": 7}
    built = QMCOMM.methods[4].build_in_parameters(arguments, encoding)
    assert QMCOMM.methods[4].read_in_parameters(built, encoding) == arguments
    assert built[:-4].count(0) == len(built) - 4 >= len(stub)
    assert built[-4:] == b"\7\0\0\0"


def start(wire):
    return QM2QM, 0, wire


BAD = {
    "dwSize above the range": (*start(EIGHT.replace("03000000", "01004200", 1)), "REMOTEREADDESC.dwSize", 16),
    "NULL where three octets are announced": (
        *start(f"{EIGHT} 00000000 0000 0000 00000000"),
        "REMOTEREADDESC.lpBuffer",
        44,
    ),
    "a maximum count that is not dwSize": (
        *start(f"{EIGHT} 00000000 0000 0000 01000000 04000000 00000000 03000000 616263"),
        "REMOTEREADDESC.lpBuffer",
        56,
    ),
    "an actual count that is not dwSize": (
        *start(f"{EIGHT} 00000000 0000 0000 01000000 03000000 00000000 02000000 6162"),
        "REMOTEREADDESC.lpBuffer",
        56,
    ),
    "an offset": (
        *start(f"{EIGHT} 00000000 0000 0000 01000000 03000000 01000000 03000000 616263"),
        "REMOTEREADDESC.lpBuffer",
        56,
    ),
    "an actual count above the maximum": (
        *start(f"{EIGHT} 00000000 0000 0000 01000000 03000000 00000000 04000000 61626364"),
        "REMOTEREADDESC.lpBuffer",
        56,
    ),
    "a buffer that is cut": (
        *start(f"{EIGHT} 00000000 0000 0000 01000000 03000000 00000000 03000000 6162"),
        "REMOTEREADDESC.lpBuffer",
        56,
    ),
    "no value of an enumeration": (*start(f"{EMPTY_EIGHT} 00000000 0080"), "REMOTEREADDESC.eAckNack", 36),
    "an end within a field": (*start("07000000 0000"), "REMOTEREADDESC.hCursor", 4),
    "bytes too many": (*start(f"{EMPTY_EIGHT} 00000000 0000 0000 00000000 00"), "RemoteQMStartReceive stub", 44),
    "dwAck 0": (QM2QM, 1, f"{HANDLE_WIRE} 00000000", "dwAck", 20),
    "dwAck 3": (QM2QM, 1, f"{HANDLE_WIRE} 03000000", "dwAck", 20),
    "handle attributes": (QM2QM, 1, f"01{HANDLE_WIRE[2:]} 01000000", "pphContext", 0),
    "dwMQS 17": (QM2QM, 2, "33221100554477668899aabbccddeeff 11000000 01000000 02000000 03000000", "dwMQS", 16),
    "dwPortType 4": (QM2QM, 7, "04000000", "dwPortType", 0),
    "an argument where none is": (QM2QM, 8, "00", "RemoteQmGetVersion stub", 0),
    "a discriminant that is not m_qft": (QMCOMM, 2, "00000200 03000000 01", "QUEUE_FORMAT.union", 9),
    "no such arm": (QMCOMM, 2, "00000200 09000000 09", "QUEUE_FORMAT.union", 9),
    "a string without its null": (
        *(QMCOMM, 2, "00000200 03000000 03000000 04000200 01000000 00000000 01000000 4100"),
        "QUEUE_FORMAT.union",
        30,
    ),
    "a string of nothing": (
        *(QMCOMM, 2, "00000200 03000000 03000000 04000200 00000000 00000000 00000000"),
        "QUEUE_FORMAT.union",
        28,
    ),
    "a string with a null within": (
        *(QMCOMM, 2, "00000200 03000000 03000000 04000200 02000000 00000000 02000000 00000000"),
        "QUEUE_FORMAT.union",
        32,
    ),
    "a string of more characters than are believed": (
        *(QMCOMM, 2, "00000200 03000000 03000000 04000200 01800000 00000000 01800000"),
        "QUEUE_FORMAT.union",
        28,
    ),
    "a tower above its range": (EPT, 3, "00000000 01000000 d1070000 d1070000", "twr_t.tower_length", 12),
    "a tower of another size than it says": (
        EPT,
        3,
        "00000000 01000000 02000000 01000000 00",
        "twr_t.tower_octet_string",
        16,
    ),
    "one referent of two types": (
        *(EPT, 3, "01000000 33221100554477668899aabbccddeeff 01000000"),
        "map_tower",
        24,
    ),
    "max_towers above its range": (EPT, 3, f"00000000 00000000 {'00' * 20} f5010000", "max_towers", 28),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_stub_is_refused_with_field_and_offset(name):
    interface, opnum, wire, field, offset = BAD[name]
    with pytest.raises(StubError) as caught:
        interface.methods[opnum].read_in_parameters(bytes.fromhex(wire), NDR)
    assert (caught.value.field, caught.value.offset) == (field, offset)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("count", [3, 0x7FFFFFFF, 0xFFFFFFFFFFFFFFFF])
def test_ndr64_counts_are_checked_against_available_bytes(count):
    towers = (0xFFFF).to_bytes(8, "little") + bytes(8) + count.to_bytes(8, "little")
    stub = bytes(20) + count.to_bytes(8, "little")[:4] + towers
    with pytest.raises(StubError):
        EPT.methods[3].read_out_parameters(stub, NDR64, {"max_towers": 0xFFFF})


def test_element_count_in_rpc_stub_requires_available_bytes():
    wire = bytes(20) + bytes.fromhex("f4010000 f4010000 00000000 f4010000") + bytes(100)
    with pytest.raises(StubError, match="500 elements need at least 2000 bytes, but only 100 are left"):
        EPT.methods[3].read_out_parameters(wire, NDR, {"max_towers": 500})


def test_two_full_pointers_to_one_referent_give_one_value():
    wire = f"{'00' * 20} 02000000 02000000 00000000 02000000 05000000 0500000001000000 01000000 78 000000 00000000"
    results = EPT.methods[3].read_out_parameters(bytes.fromhex(wire), NDR, {"max_towers": 2})
    assert results["ITowers"][0] is results["ITowers"][1]


@pytest.mark.parametrize(
    ("interface", "opnum", "arguments", "why"),
    [
        (QM2QM, 1, {"pphContext": None, "dwAck": 3}, "outside 1 to 2"),
        (QM2QM, 0, {"lpRemoteReadDesc": {**DESC, "dwSize": 1}}, "NULL"),
        (QM2QM, 0, {"lpRemoteReadDesc": {**FULL, "dwSize": 2}}, "3 elements"),
        (QM2QM, 0, {"lpRemoteReadDesc": {**DESC, "eAckNack": 0x8000}}, "enumeration"),
        (QM2QM, 0, {"lpRemoteReadDesc": {"dwSize": 0}}, "fields of REMOTEREADDESC"),
        (QM2QM, 6, {"hQueue": -1}, "takes 4 bytes"),
        (QM2QM, 6, {}, "takes hQueue"),
        (
            EPT,
            3,
            {"obj": None, "map_tower": {"tower_length": 3, "tower_octet_string": b""}}
            | {"entry_handle": None, "max_towers": 0},
            "0 elements",
        ),
    ],
)
def test_arguments_that_cannot_be_encoded_raise_misuse_error(interface, opnum, arguments, why):
    with pytest.raises(MisuseError, match=why):
        interface.methods[opnum].build_in_parameters(arguments, NDR)


def test_ndr64_structure_is_padded_to_its_alignment():
    """A structure in NDR64 is padded to its alignment (MS-RPCE 2.2.5.3.4.1). The QUEUE_FORMAT with an OBJECTID above
    shows this padding within a stub.
    """
    assert isinstance(QM2QM.methods[0].parameters[1].type, Struct)
    desc = QM2QM.methods[0].parameters[1].type
    assert (desc.get_alignment(NDR), desc.get_alignment(NDR64)) == (4, 8)


@pytest.mark.parametrize(("encoding", "wire"), [(NDR, "01 01 05"), (NDR64, "01 000000 01 000000 05 000000")])
def test_union_arm_is_aligned_by_itself_in_ndr_and_by_largest_arm_in_ndr64(encoding, wire):
    """The arm of a union has its own alignment in NDR (C706 14.3.8), and the alignment of the largest arm in NDR64
    (MS-RPCE 2.2.5.3.4.4).
    """
    octet, word = UnsignedIntegerType(1), UnsignedIntegerType(4)
    toy = Struct("Toy", "C706 14.3.8", which=octet, arm=Union("Toy", octet, "which", {1: octet, 2: word}))
    table = declare_method("Toy", "C706 14.3.8", declare_in_parameter("toy", toy))
    stub = table.build_in_parameters({"toy": {"which": 1, "arm": 5}}, encoding)
    assert stub == bytes.fromhex(wire)
    assert table.read_in_parameters(stub, encoding) == {"toy": {"which": 1, "arm": 5}}
