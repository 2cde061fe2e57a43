"""MS-MQQB 3.1.5.8 Receiving a UserMessage Packet, with 3.1.5.8.4, 3.1.5.8.10."""
