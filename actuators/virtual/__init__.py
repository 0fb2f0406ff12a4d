"""Virtual twins of the devices: registers, state machines, servers and faults, with the plant injected."""
