"""MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""
