"""Active automata learning of a system's session machine over the wire alone (MS-MQQB 3.1.1.3.1, 3.1.5).

``alphabet`` has the packets that are sent, ``learner`` runs AALpy against a system, ``machine`` is the learned machine,
compared with another one, and ``demanded`` the machine that the documents demand.
"""
