"""MS-MQQB 2.2.7 Ping Packet."""
