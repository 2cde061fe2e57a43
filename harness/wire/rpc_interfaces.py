"""Define the RPC interfaces of queue managers by their UUIDs."""

from __future__ import annotations

from types import MappingProxyType
from uuid import UUID

INTERFACES = MappingProxyType(
    {
        UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525"): "qmcomm (MS-MQMP)",
        UUID("76d12b80-3467-11d3-91ff-0090272f9ea3"): "qmcomm2 (MS-MQMP)",
        UUID("1088a980-eae5-11d0-8d9b-00a02453c337"): "qm2qm (MS-MQQP)",
        UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28"): "RemoteRead (MS-MQRR, no rules yet)",
        UUID("41208ee0-e970-11d1-9b9e-00e02c064c39"): "qmmgmt (MS-MQMR, no rules yet)",
        UUID("77df7a80-f298-11d0-8358-00a024c480a8"): "dscomm (MS-MQDS, no rules yet)",
        UUID("708cca10-9569-11d1-b2a5-0060977d8118"): "dscomm2 (MS-MQDS, no rules yet)",
        UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa"): "the endpoint mapper (C706)",
    }
)
"""The names of the RPC interfaces of queue managers, by UUID."""
