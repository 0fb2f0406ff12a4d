"""Exceptions of the package: one family, raised by everything that is not the cyclic path.

`Drive.begin` and `Drive.finish` raise none of them for what a device does: a failure is a stale
sample there, and counted.
"""


class ActuatorError(Exception):
    """Something is wrong with a drive, an amplifier, their wire or their description."""


class ConnectError(ActuatorError):
    """A device cannot be reached, went away, or did not answer within its time."""


class ProtocolError(ActuatorError):
    """A device answered with an exception, or with something that does not answer the question."""


class ConfigurationError(ActuatorError):
    """Options or a profile are not valid, or a device did not take what was configured."""


class IdentityError(ActuatorError):
    """A device is not the one that was expected at its address."""


class CommandError(ActuatorError):
    """A command is refused before anything is sent: not finite, out of the wire's range, or a mode the drive lacks."""
