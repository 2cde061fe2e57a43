"""MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""
