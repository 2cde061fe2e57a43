"""MS-MQQB 3.1.5.4.1 Request Packet."""
