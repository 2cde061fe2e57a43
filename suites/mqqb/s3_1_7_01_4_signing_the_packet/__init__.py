"""MS-MQQB 3.1.7.1.4 Signing the Packet."""
