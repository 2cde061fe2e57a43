"""Learn the state machine of a system's sessions by active automata learning over the wire (MS-MQQB 3.1.1.3.1,
3.1.5).

``alphabet`` defines the packets to send, and ``learner`` runs AALpy against a system. ``machine`` represents
learned machines and compares two of them. ``demanded`` compares a learned machine with the machine that the
documents demand.
"""
