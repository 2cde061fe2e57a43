"""The reference queue manager as ``serve``, but it hangs for ever after a packet of unknown type."""

from __future__ import annotations

import os
import signal

from reference_qm.codec import FormatError
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.shell import cli
from reference_qm.surface.clock import Now


def hang(self: Identifying, session: Session, error: FormatError, now: Now) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    SessionClosing.close_session_after_malformed_packet = hang  # type: ignore[method-assign]
    cli.main()
