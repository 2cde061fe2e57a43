"""A Wireshark dissector for MSMQ, generated from the packet layouts of ``harness.wire``.

``harness.wire.layouts`` reads the scapy layers into tables, ``expert_items`` defines the rules that a single packet can
break, and ``lua`` writes tables and rules as Lua code in front of ``msmq.lua``, which interprets both in Wireshark.
"""
