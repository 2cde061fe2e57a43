"""Declares the methods of the endpoint mapper with which clients look up endpoints. Spec: C706 O; MS-RPCE 2.2.1.2."""

from __future__ import annotations

from reference_qm.rpc.interfaces.method import (
    declare_in_out_parameter,
    declare_in_parameter,
    declare_interface,
    declare_method,
    declare_out_parameter,
)
from reference_qm.rpc.ndr import (
    GUID,
    U8,
    U32,
    ConformantArray,
    ConformantVaryingArray,
    ContextHandleType,
    Struct,
    declare_full_pointer,
)

MAX_TOWER_BYTES = 2000
MAX_TOWERS = 500

LOOKUP_HANDLE = ContextHandleType("ept_lookup_handle_t")

TWR_T = Struct(
    "twr_t",
    "MS-RPCE 2.2.1.2.2",
    tower_length=U32.with_value_range(0, MAX_TOWER_BYTES),
    tower_octet_string=ConformantArray(U8, size_is="tower_length"),
)

EPT = declare_interface(
    "ept",
    "e1af8308-5d1f-11c9-91a4-08002b14a0fa",
    3,
    [
        (
            3,
            declare_method(
                "ept_map",
                "MS-RPCE 2.2.1.2.5",
                declare_in_parameter("obj", declare_full_pointer(GUID)),
                declare_in_parameter("map_tower", declare_full_pointer(TWR_T)),
                declare_in_out_parameter("entry_handle", LOOKUP_HANDLE),
                declare_in_parameter("max_towers", U32.with_value_range(0, MAX_TOWERS)),
                declare_out_parameter("num_towers", U32),
                declare_out_parameter(
                    "ITowers",
                    ConformantVaryingArray(declare_full_pointer(TWR_T), size_is="max_towers", length_is="num_towers"),
                ),
                declare_out_parameter("status", U32),
            ),
        ),
        (
            4,
            declare_method(
                "ept_lookup_handle_free",
                "MS-RPCE 2.2.1.2.8",
                declare_in_out_parameter("entry_handle", LOOKUP_HANDLE),
                declare_out_parameter("status", U32),
            ),
        ),
    ],
)
