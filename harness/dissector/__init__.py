"""A Wireshark dissector for MSMQ, which is generated from the packet layouts of ``harness.wire``.

``layouts`` in ``harness.wire`` reads the scapy layers into tables, and ``expert_items`` defines the rules that a
single packet can break. ``lua`` writes the tables and the rules as Lua code in front of ``msmq.lua``. This Lua
program interprets the tables and the rules in Wireshark.
"""
