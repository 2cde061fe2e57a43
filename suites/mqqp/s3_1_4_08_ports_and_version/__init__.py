"""MS-MQQP 3.1.4.8 RemoteQMGetQMQMServerPort (Opnum 7), with 3.1.4.9."""
