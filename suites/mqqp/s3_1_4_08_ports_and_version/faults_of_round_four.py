"""Faults that break rules of MS-MQQP 3.1.4.9 for servers that accept one transfer syntax."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_always_on_same_context

_NDR64_CONTEXT_ID = 1


add(
    "client-get-version-context-of-ndr64-although-refused",
    "MQQP-3.1.4.9-01",
    "The client calls RemoteQmGetVersion on the presentation context for NDR64, although the server has accepted only "
    "the context for NDR.",
    call_always_on_same_context("RemoteQmGetVersion", _NDR64_CONTEXT_ID),
    blind=True,
)
