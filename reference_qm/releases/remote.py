"""Imitates Windows releases whose remote reading differs, on the server or on the client. Each class replaces one part
of the queue manager.
"""

from __future__ import annotations

from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM, Call, Interface
from reference_qm.surface.inputs import Endpoint

METHODS_ADDED_BY_LATER_RELEASES = frozenset(
    {"RemoteQmGetVersion", "RemoteQMStartReceive2", "RemoteQMStartReceiveByLookupId"}
)
"""The methods that NT and 2000 do not have. Spec: MS-MQQP 1.7, note <2>."""


class ServerLacksMethodsOfLaterReleases(RpcEventDispatching):
    """The server does not have the methods that later releases added. Spec: MS-MQQP 3.1.4.9 to 3.1.4.11, notes <21>,
    <25>, <27>.
    """

    __slots__ = ()

    def is_method_supported(self, call: Call) -> bool:
        return call.method.name not in METHODS_ADDED_BY_LATER_RELEASES and super().is_method_supported(call)


class ServerAcceptsRequestIdInUse(RemoteReadStarting):
    """The server accepts a dwRequestID that is in use. Spec: MS-MQQP 3.1.4.1, 3.1.4.10, notes <6>, <10>, <26>."""

    __slots__ = ()

    def check_request_id(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK


class ServerAcceptsPQueueThatDiffersFromDwpContext(RemoteQueueOpening):
    """The server accepts a pQueue that differs from dwpContext. Spec: MS-MQQP 3.1.4.3, note <14>."""

    __slots__ = ()

    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return Status.MQ_OK


class ServerFindsQueueOfCallByHQueueHandle(RemoteQueueOpening):
    """The server identifies the queue by hQueue, which must be the handle of an open queue.

    Spec: MS-MQQP 3.1.4.3, notes <13>, <15>.
    """

    __slots__ = ()

    def check_open_handle(self, h_queue: int) -> Status:
        known = self.qm.remote_read_starting.find_remote_descriptor(h_queue)
        return Status.MQ_ERROR_INVALID_PARAMETER if known is None else Status.MQ_OK

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        return h_queue


class ServerAnswersCancelWithQueueHandleZeroWithInvalidHandle(RemoteReadEnding):
    """The server answers a cancel whose pQueue or hQueue is 0 with MQ_ERROR_INVALID_HANDLE. Spec: MS-MQQP 3.1.4.6, note
    <17>.
    """

    __slots__ = ()

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return super().check_cancel_queue(h_queue, p_queue) if h_queue and p_queue else Status.MQ_ERROR_INVALID_HANDLE


class ServerAnswersFailedPurgeWithFault(RemoteQueueOpening):
    """The server answers a failed RemoteQMPurgeQueue with a fault instead of a return value. Spec: MS-MQQP 3.1.4.7,
    note <18>.
    """

    __slots__ = ()

    def refuse_purge(self, call: Call, status: Status) -> None:
        self.qm.remote.carry_out_outputs(call.fault(status))


class ClientMakesAllCallsAtPortOfFirstBind(ServerBindings):
    """The client makes all calls at the port of its first bind. It does not request the port of the other methods from
    the server. Spec: MS-MQQP 2.1, note <5>.
    """

    __slots__ = ()

    def bind_to_server(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        if interface is not QM2QM:
            return (yield from super().bind_to_server(server, interface))
        return (yield from self.construct_initial_binding(server, interface))


class ClientRequestsNoServerVersion(ClientMessageReading):
    """The client treats every server as a server of an old release, and does not request the server's version.

    Spec: MS-MQQP 3.2.4.2, notes <28> to <31>.
    """

    __slots__ = ()

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        if read.LookupId is not None:
            raise RemoteError(
                "this release cannot read by lookup identifier (MS-MQQP note <27>)", Status.MQ_ERROR_INVALID_PARAMETER
            )
        yield from ()
        return None
