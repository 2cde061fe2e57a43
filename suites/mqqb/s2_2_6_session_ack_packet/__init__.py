"""MS-MQQB 2.2.6 SessionAck Packet."""
