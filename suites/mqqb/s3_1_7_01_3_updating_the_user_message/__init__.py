"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet."""
