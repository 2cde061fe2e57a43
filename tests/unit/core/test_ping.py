"""MS-MQQB 2.1.2, 2.2.7, 3.1.5.2.2, 3.1.6.8, 3.1.7.6 to 3.1.7.9: ping, both sides."""

from core_network import Network, direct

from reference_qm.surface.commands import OpenSession


def test_a_refusing_response_is_a_failure():
    a, b = Network().pair(send_ping=True, max_sessions=0)
    assert "3.1.7.6" in a.refusal(OpenSession(direct(2)))
    assert a.connects == []
    assert b.sent_pings()[0].RF == 1
