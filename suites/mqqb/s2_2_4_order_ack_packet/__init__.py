"""MS-MQQB 2.2.4 OrderAck Packet, with 2.2.4.1."""
