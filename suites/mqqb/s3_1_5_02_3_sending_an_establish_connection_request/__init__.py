"""MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""
