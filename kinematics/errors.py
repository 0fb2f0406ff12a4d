"""Exceptions of the kinematics package."""


class KinematicsError(ValueError):
    """The kinematics cannot use an argument, a geometry or a pose."""


class ConvergenceError(KinematicsError):
    """The forward kinematics found no pose with the leg lengths.

    `iterations` is the number of Newton steps used; `residual` the largest remaining leg-length error, m.
    """

    def __init__(self, message: str, iterations: int, residual: float) -> None:
        super().__init__(message)
        self.iterations = iterations
        self.residual = residual


class AssemblyModeError(ConvergenceError):
    """The pose with the leg lengths is across a singularity from the guess: another assembly mode."""


class SingularityError(KinematicsError):
    """A joint or the platform loses or gains a degree of freedom at a pose.

    `statement` says what is singular; `where` is the sample, if there are several, with a separator.
    """

    def __init__(self, statement: str, where: str = "") -> None:
        super().__init__(statement, where)
        self.statement = statement
        self.where = where

    def __str__(self) -> str:
        """Return the statement, preceded by its place."""
        return self.where + self.statement


class LimitError(KinematicsError):
    """A limit of poses is invalid; `name` is the argument's, `fault` its value and its bound."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(f"{name.replace('_', ' ')}: {fault}")
        self.name = name
        self.fault = fault

    def __reduce__(self) -> tuple[type["LimitError"], tuple[str, str]]:
        """Pickle the two arguments."""
        return LimitError, (self.name, self.fault)


class InputFileError(KinematicsError):
    """A file cannot be read; the message does not name the file."""


class MissingFileError(InputFileError):
    """The file does not exist."""


class TrajectoryError(KinematicsError):
    """A trajectory cannot be read, built or followed."""
