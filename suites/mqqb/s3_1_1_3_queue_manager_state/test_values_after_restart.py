"""MS-MQQB 3.1.1.3 Queue Manager State: a SendInsecureNacks of FALSE after a restart."""

from __future__ import annotations

from harness.run.marks import covers, needs


@needs("configure", "restart")
@covers("MQQB-3.1.1.3-27")
def test_send_insecure_nacks_of_false_is_kept_over_restart(sut, judge):
    """SendInsecureNacks is set to FALSE, and is still FALSE after a restart."""
    sut.configure(send_insecure_nacks=False)
    sut.restart()
    judge(
        "MQQB-3.1.1.3-27",
        expected=False,
        observed=sut.control.call("configure")["send_insecure_nacks"],
        case="SendInsecureNacks after a restart",
        note="<29>",
    )
