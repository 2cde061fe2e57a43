"""MS-MQQB 2.2.2 ConnectionParameters Packet, with 2.2.2.1."""
