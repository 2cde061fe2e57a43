"""Faults of a client in later openings of a queue, with high port numbers, and with a binding handle that cannot be
constructed.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_pdus
from harness.faults.registry import FaultyCore, add
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError, RpcBindingHandle
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.rpc import QM2QM, QMCOMM, Interface
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.surface.inputs import Endpoint

SIGN_BIT_OF_PORT = 0x8000
DEFAULT_READ_PORT = 2105
THIRD_BIND_NUMBER = 3


@fault("client-binds-to-address-of-first-server-in-later-openings", breaks="MQQP-3.2.4.1-02", blind=True)
class ClientBindsToAddressOfFirstServerInLaterOpenings(ServerBindings):
    """A client constructs every binding handle to qm2qm at the address of the server that it used first."""

    def construct_initial_binding(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        if interface is QM2QM:
            server = self.__dict__.setdefault("first", server)
        return (yield from super().construct_initial_binding(server, interface))


def _bind_second_opening_to_qmcomm(faulty: FaultyCore) -> None:
    """Install a fault with which a client proposes qmcomm in the first bind of its second opening of a queue. Each
    opening binds to qm2qm twice.
    """
    binds = itertools.count(1)

    def change_proposal(body: Bind) -> Bind:
        if all(one.abstract_syntax != QM2QM.syntax for one in body.p_context_elem) or next(binds) != THIRD_BIND_NUMBER:
            return body
        elements = tuple(replace(one, abstract_syntax=QMCOMM.syntax) for one in body.p_context_elem)
        return replace(body, p_context_elem=elements)

    change_pdus(Bind, change_proposal)(faulty)


add(
    "initiator-binding-of-second-opening-to-qmcomm",
    "MQQP-3.2.4.1-02",
    "In its second opening of a queue, a client binds to qmcomm instead of qm2qm.",
    _bind_second_opening_to_qmcomm,
    blind=True,
)


@fault("client-later-openings-use-port-of-first-opening", breaks="MQQP-3.2.4.1-04", blind=True)
class ClientLaterOpeningsUsePortOfFirstOpening(ServerBindings):
    """A client calls RemoteQMOpenQueue of later openings at the port that the server returned in the first opening."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        return self.__dict__.setdefault("first", port) if interface is QM2QM else port


@fault("client-replaces-returned-port-above-0x7fff-by-2105", breaks="MQQP-3.2.4.1-04", blind=True)
class ClientReplacesReturnedPortAbove0x7fffBy2105(ServerBindings):
    """A client calls RemoteQMOpenQueue at port 2105 if RemoteQMGetQMQMServerPort returned a port above 0x7FFF."""

    def ask_server_port(self, binding: RpcBindingHandle, interface: Interface) -> RemoteCallSequence:
        port = yield from super().ask_server_port(binding, interface)
        return DEFAULT_READ_PORT if interface is QM2QM and port >= SIGN_BIT_OF_PORT else port


class InitialBindingReuserForOpenQueue(ServerBindings):
    """A part of the queue manager that uses the initial binding handle to qm2qm when the second one cannot be
    constructed.
    """

    def is_initial_binding_used(self, error: RemoteError, port: int) -> bool:
        """Return whether the initial binding handle is used after an error. ``port`` is the returned port, or 0."""
        raise NotImplementedError

    def bind_to_server(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        if interface is not QM2QM:
            return (yield from super().bind_to_server(server, interface))
        initial = yield from self.construct_initial_binding(server, interface)
        port = 0
        try:
            port = yield from self.ask_server_port(initial, interface)
            second = yield from self.construct_binding(Endpoint(server.host, port), interface)
        except RemoteError as error:
            if self.is_initial_binding_used(error, port):
                return initial
            yield from self.close_binding(initial)
            raise
        yield from self.close_binding(initial)
        return second


@fault("client-opens-queue-on-initial-binding-if-second-binding-fails", breaks="MQQP-3.2.4.1-06", blind=True)
class ClientOpensQueueOnInitialBindingIfSecondBindingFails(InitialBindingReuserForOpenQueue):
    """A client that cannot construct the second binding handle calls RemoteQMOpenQueue with the initial one."""

    def is_initial_binding_used(self, error: RemoteError, port: int) -> bool:
        return port != 0


@fault("client-opens-queue-on-initial-binding-if-port-is-zero", breaks="MQQP-3.2.4.1-06", blind=True)
class ClientOpensQueueOnInitialBindingIfPortIsZero(InitialBindingReuserForOpenQueue):
    """A client to which RemoteQMGetQMQMServerPort returned 0 calls RemoteQMOpenQueue with the initial handle."""

    def is_initial_binding_used(self, error: RemoteError, port: int) -> bool:
        return port == 0


@fault("client-p-lic-guid-changed-in-later-openings", breaks="MQQP-3.2.4.1-10", blind=True)
class ClientPLicGuidChangedInLaterOpenings(ClientQueueOpening):
    """In each opening after the first, a client sets pLicGuid to a GUID that is not QueueManager.Identifier."""

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        arguments = super().build_open_queue_arguments(queue)
        if self.__dict__.setdefault("opened", False):
            arguments["pLicGuid"] = type(arguments["pLicGuid"])(int=arguments["pLicGuid"].int ^ queue.number)
        self.__dict__["opened"] = True
        return arguments


def _change_identifier_after_restart(faulty: FaultyCore) -> None:
    """Install a fault with which a client sends a different pLicGuid after a restart."""

    class PLicGuidChangedAfterRestart(ClientQueueOpening):
        """After a restart, a client sets pLicGuid to a GUID that is not QueueManager.Identifier."""

        def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
            arguments = super().build_open_queue_arguments(queue)
            arguments["pLicGuid"] = type(arguments["pLicGuid"])(int=arguments["pLicGuid"].int ^ 1)
            return arguments

    faulty.actions_at_restart.append(replace_part(PLicGuidChangedAfterRestart))


add(
    "initiator-remoteqmopenqueue-plicguid-after-restart-changed",
    "MQQP-3.2.4.1-10",
    "After a restart, a client sets pLicGuid to a GUID that is not QueueManager.Identifier.",
    _change_identifier_after_restart,
    blind=True,
)
