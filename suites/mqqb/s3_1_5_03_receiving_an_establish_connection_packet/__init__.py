"""MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet."""
