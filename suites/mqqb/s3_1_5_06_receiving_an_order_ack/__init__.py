"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet."""
