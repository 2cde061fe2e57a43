"""A SUT that serves DCE/RPC in virtual time: it uses the RPC runtime of the reference, and its answers come from a
script of the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.environment import Stream, VirtualEnvironment
from reference_qm.rpc import EPT, QM2QM, QMCOMM, Call, CallReceived, Interface, RpcServer, SendBytes
from reference_qm.rpc.authentication import NO_SECURITY, ServerSecurity
from reference_qm.rpc.events import CallCancelled, CallOrphaned, CloseAssociation, HandleRundown, RpcOutput
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Endpoint

Answer = Callable[[Call], list[RpcOutput] | None]


class ScriptedSut:
    """A SUT with some interfaces at a port. ``answers``: functions by the name of the operation; the result None means
    that the answer comes later.
    """

    def __init__(
        self,
        environment: VirtualEnvironment,
        port: int = 2103,
        interfaces: tuple[Interface, ...] = (QM2QM, QMCOMM, EPT),
        security: ServerSecurity = NO_SECURITY,
        **answers: Answer,
    ) -> None:
        self.environment = environment
        self.answers = answers
        self.server = RpcServer(interfaces, SeededEntropy("scripted"), security=security)
        self.change: Callable[[bytes], bytes] = bytes
        """A function that changes the bytes which the SUT sends."""
        self.calls: list[Call] = []
        self.outputs: list[Any] = []
        """The outputs other than calls: cancels, orphans and rundowns."""
        environment.listen(Endpoint("127.0.0.1", port), lambda stream: _Link(self, stream))


class _Link:
    def __init__(self, sut: ScriptedSut, stream: Stream) -> None:
        self.sut = sut
        self.stream = stream
        self.association = sut.server.accept(stream.remote.host, "2103", sut.environment.now())

    def on_connection_open(self) -> None: ...

    def on_failed(self, error: str) -> None: ...

    def on_bytes(self, data: bytes) -> None:
        self.perform(self.association.receive_bytes(data, self.sut.environment.now()))

    def on_closed(self, reason: str) -> None:
        self.perform(self.association.on_connection_lost())

    def perform(self, happened: list[RpcOutput]) -> None:
        for one in happened:
            if isinstance(one, SendBytes):
                self.stream.send(self.sut.change(one.data))
            elif isinstance(one, CloseAssociation):
                self.stream.close()
            elif isinstance(one, CallReceived):
                self.sut.calls.append(one.call)
                self.perform(self.sut.answers[one.call.method.name](one.call) or [])
            elif isinstance(one, CallCancelled | CallOrphaned | HandleRundown):
                self.sut.outputs.append(one)
