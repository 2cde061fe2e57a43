"""MS-MQSO 5.2.1.3 Subcomponent Roles."""
