"""Faults with which a method of a server throws some of its refusals as RPC faults instead of returning them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from harness.faults.parts import PartMethod, override_method, replace_part
from harness.faults.registry import Install
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.rpc.events import RpcOutput

RefusalCondition = Callable[[QueueManager, Call, int], bool]
"""The type of conditions for a thrown status. A condition is called with the queue manager, the call and the status."""


class _CallWithThrownStatus:
    """A call to which the server answers with an RPC fault if a condition is true for the status of the answer."""

    def __init__(self, call: Call, is_thrown: Callable[[int], bool]) -> None:
        self._call = call
        self._is_thrown = is_thrown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> list[RpcOutput]:
        status = results.get("Return", Status.MQ_OK)
        return self._call.fault(status or Status.MQ_ERROR) if self._is_thrown(status) else self._call.respond(**results)


def throw_status_as_fault_if(method: PartMethod, condition: RefusalCondition) -> Install:
    """Return an installer of a fault with which a method throws a status as an RPC fault if a condition is true.

    A thrown MQ_OK, and the answer of a method without a status, become MQ_ERROR.
    """

    def make_throwing_method(original: PartMethod) -> PartMethod:
        def answer_or_throw(qm: QueueManager, call: Call, now: Any) -> Any:
            thrown = _CallWithThrownStatus(call, lambda status: condition(qm, call, status))
            return original(qm, cast(Call, thrown), now)

        return answer_or_throw

    return replace_part(override_method(method, make_throwing_method))
