"""MS-MQQB 3.1.5.5 Receiving a SessionAck Packet."""
