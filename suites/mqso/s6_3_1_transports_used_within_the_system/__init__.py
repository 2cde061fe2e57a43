"""MS-MQSO 6.3.1 Transports Used Within the System, with 6.1.5.5."""
