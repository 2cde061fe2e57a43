"""MS-MQQB 2.2.5 FinalAck Packet, with 2.2.5.1."""
