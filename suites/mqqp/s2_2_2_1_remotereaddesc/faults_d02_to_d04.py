"""Faults that break the rules MQQP-2.2.2.1-D02 to MQQP-2.2.2.1-D04."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import filter_inputs
from harness.faults.registry import add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.enums import RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.inputs import Input, RpcBytesReceived
from suites.mqqp.s2_2_2_1_remotereaddesc.fault_steps import (
    ReadAnswerChanger,
    ReadDescriptionChangerOfAnswersWithMessage,
    make_call_with_changed_description,
)

TOO_LARGE_DW_SIZE_BYTES = (0x0042_0001).to_bytes(4, "little")


def _limit_dw_size_of_request(event: Input) -> Iterable[Input]:
    if isinstance(event, RpcBytesReceived):
        event = replace(event, data=event.data.replace(TOO_LARGE_DW_SIZE_BYTES, bytes(4)))
    return [event]


add(
    "server-dw-size-above-range-accepted",
    "MQQP-2.2.2.1-D02",
    "The server accepts a dwSize above 0x00420000.",
    filter_inputs(_limit_dw_size_of_request),
)


@fault("server-answer-reserved-copied-from-request", breaks="MQQP-2.2.2.1-D03")
class ServerAnswerReservedCopiedFromRequest(RemoteReads):
    """The server returns the value of Reserved from the request instead of 1."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        given = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]

        def return_reserved_field_of_request(value: Any) -> Any:
            if second is None:
                return value | {"Reserved": given["Reserved"]}
            return value | {"pRemoteReadDesc": value["pRemoteReadDesc"] | {"Reserved": given["Reserved"]}}

        name = "lpRemoteReadDesc" if second is None else "lpRemoteReadDesc2"
        super().answer_read(
            call if given is None else change_answer_values(call, **{name: return_reserved_field_of_request}),
            status,
            entry,
        )


@fault("server-copies-reserved-of-lookup-request-to-answer", breaks="MQQP-2.2.2.1-D03")
class ServerCopiesReservedOfLookupRequestToAnswer(ReadAnswerChanger):
    """The server copies Reserved of the request to the answer of RemoteQMStartReceiveByLookupId."""

    def change(
        self, desc: ReadDescription, call: Call, entry: RemoteReadEntry | None, status: Status
    ) -> dict[str, Any]:
        if call.method.name != "RemoteQMStartReceiveByLookupId":
            return {}
        return {"Reserved": call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]["Reserved"]}


@fault("client-reserved-1-in-read-by-cursor", breaks="MQQP-2.2.2.1-D03")
class ClientReserved1InReadByCursor(ClientMessageReading):
    """The client sets Reserved to 1 in a read by a cursor."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().build_start_receive_description(read), "Reserved": int(bool(read.CursorHandle))}


@fault("server-returns-reserved-0-for-peek", breaks="MQQP-2.2.2.1-D03", blind=True)
class ServerReturnsReserved0ForPeek(RemoteReads):
    """The server returns Reserved 0 for a peek."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action not in RECEIVE_ACTIONS:
            call = make_call_with_changed_description(call, Reserved=0)
        super().answer_read(call, status, entry)


@fault("client-lookup-sends-reserved-1", breaks="MQQP-2.2.2.1-D03", blind=True)
class ClientLookupSendsReserved1(ClientMessageReading):
    """The client sets Reserved to 1 in a read by LookupIdentifier."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().build_start_receive_description(read), "Reserved": int(read.LookupId is not None)}


@fault("server-answer-packet-cut-at-64-kib", breaks="MQQP-2.2.2.1-D04")
class ServerAnswerPacketCutAt64Kib(RemoteReads):
    """The server returns only the first 65,535 bytes of a packet."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position)[:0xFFFF]


@fault("server-packet-above-1-mb-cut", breaks="MQQP-2.2.2.1-D04")
class ServerPacketAbove1MbCut(ReadDescriptionChangerOfAnswersWithMessage):
    """The server returns only the first 1,048,576 bytes of a longer packet."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        data = found["lpBuffer"][: 1 << 20]
        return {"dwSize": len(data), "lpBuffer": data}
