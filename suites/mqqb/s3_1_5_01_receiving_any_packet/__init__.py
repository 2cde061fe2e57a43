"""MS-MQQB 3.1.5.1 Receiving Any Packet, with 3.1.5.1.2, 3.1.5.1.3."""
