"""The engine: the cyclic part of the rig, its states, its safety checks and the link by which clients command it."""
