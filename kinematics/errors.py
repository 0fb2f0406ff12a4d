"""What the kinematics package raises."""


class KinematicsError(ValueError):
    """An argument, a geometry or a pose the kinematics cannot use."""


class ConvergenceError(KinematicsError):
    """The forward kinematics stopped short of a pose that fits the leg lengths.

    `iterations` is the number of Newton steps spent; `residual` the largest leg-length error left, m.
    """

    def __init__(self, message: str, iterations: int, residual: float) -> None:
        super().__init__(message)
        self.iterations = iterations
        self.residual = residual


class AssemblyModeError(ConvergenceError):
    """The pose that fits the leg lengths lies across a singularity from the guess: another way to assemble the legs."""


class SingularityError(KinematicsError):
    """A pose at which a joint or the platform loses or gains a freedom.

    `statement` says what is singular; `where` at which of several samples, with what separates the two.
    """

    def __init__(self, statement: str, where: str = "") -> None:
        super().__init__(statement, where)
        self.statement = statement
        self.where = where

    def __str__(self) -> str:
        """The statement with its place in front."""
        return self.where + self.statement


class LimitError(KinematicsError):
    """A limit of poses that cannot be; `name` is the argument's, `fault` its value and its bound."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(f"{name.replace('_', ' ')}: {fault}")
        self.name = name
        self.fault = fault

    def __reduce__(self) -> tuple[type["LimitError"], tuple[str, str]]:
        """Pickle by the two arguments."""
        return LimitError, (self.name, self.fault)


class InputFileError(KinematicsError):
    """A file that cannot be read as what it should be; the message does not name the file."""


class MissingFileError(InputFileError):
    """There is no such file."""


class TrajectoryError(KinematicsError):
    """A trajectory that cannot be read, built or followed."""
