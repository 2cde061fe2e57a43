"""MS-MQQB 2.2.3 EstablishConnection Packet, with 2.2.3.1."""
