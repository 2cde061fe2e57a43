"""MS-MQQB 3.1.5.1.1 Identifying Packet Type."""
