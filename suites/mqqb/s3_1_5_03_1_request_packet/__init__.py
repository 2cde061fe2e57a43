"""MS-MQQB 3.1.5.3.1 Request Packet."""
