"""A Wireshark dissector for MSMQ, generated from the packet layouts of ``harness.wire``.

``harness.wire.layouts`` reads the scapy layers into tables, ``expert_items`` has the rules that one packet alone can
break, ``lua`` writes both as Lua in front of ``msmq.lua``, which interprets them in Wireshark.
"""
