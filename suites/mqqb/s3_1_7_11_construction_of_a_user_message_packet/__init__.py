"""MS-MQQB 3.1.7.11 Construction of a UserMessage Packet."""
