"""The reference queue manager as `mqconform serve`, but a packet of unknown type ends its process as an access
violation would.
"""

from __future__ import annotations

import os

from reference_qm.codec import FormatError
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.shell import cli
from reference_qm.surface.clock import Now

STATUS = 3


def crash(self: Identifying, session: Session, error: FormatError, now: Now) -> None:
    print("unhandled packet", flush=True)  # noqa: T201 - its log
    os._exit(STATUS)


if __name__ == "__main__":
    SessionClosing.close_session_after_malformed_packet = crash  # type: ignore[method-assign]
    cli.main()
