"""MS-MQQB 3.1.5.3.2 Response Packet."""
