"""MS-MQQB 3.1.5.4.2 Response Packet."""
