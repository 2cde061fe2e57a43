"""The OpenQueueDescriptors that a SUT shows. Spec: MS-MQDMPR 3.1.1.16, 3.1.7.1.5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.sut.sut import Sut


def map_opened_descriptors_by_handle(sut: Sut) -> dict[int, dict[str, Any]]:
    """Return the OpenQueueDescriptors by Handle."""
    return {one["Handle"]: one for one in sut.inspect()["OpenQueueDescriptors"]}


def list_format_names_of_descriptor(descriptor: Mapping[str, Any]) -> list[str]:
    """Return the format names of an OpenQueueDescriptor in lower case, in the order in which it lists them."""
    return str(descriptor.get("FormatName", "")).lower().split(",")
