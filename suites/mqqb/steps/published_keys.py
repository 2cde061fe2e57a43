"""Steps that change the public encryption keys of the peer in the directory of the SUT."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.sut.sut import Sut
from harness.wire.protection import RsaKey, build_public_key_list


@contextmanager
def restore_public_keys_at_end_of_check(sut: Sut, machine: UUID) -> Iterator[None]:
    """Restore the public keys of a queue manager at the end of the check."""
    machine_object = {"queue_manager": str(machine)}
    keys_before = (sut.read_directory_object(**machine_object) or {}).get("public_encryption_keys_base64")
    if keys_before is None:
        raise ConformanceFailure("the directory contains no public keys of the peer")
    try:
        yield
    finally:
        sut.change_directory_object(**machine_object, public_encryption_keys_base64=keys_before)


def publish_public_keys_of_queue_manager(sut: Sut, machine: UUID, keys: Mapping[str, RsaKey]) -> None:
    """Replace the public keys of a queue manager in the directory; ``keys``: the keys by provider."""
    listed = base64.b64encode(build_public_key_list(keys)).decode()
    sut.change_directory_object(queue_manager=str(machine), public_encryption_keys_base64=listed)
