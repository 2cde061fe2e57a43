"""MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet."""
