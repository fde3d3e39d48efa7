"""What can go wrong, as types.

Every message is one line: `where: what is wrong (the value); what to do`. The command line prints it and exits with 2.
"""


class AssayError(Exception):
    """Anything that assay refuses; the message is meant for the person who called."""

    way_out = ""
    """The end of the message if it names an option; a command that has no such option leaves it out."""

    @classmethod
    def with_way_out(cls, what: str, way_out: str) -> "AssayError":
        """An error whose message ends with an option.

        >>> error = UsageError.with_way_out("AP and RR are not the same measure", "; choose one with -m")
        >>> str(error), error.way_out
        ('AP and RR are not the same measure; choose one with -m', '; choose one with -m')
        """
        error = cls(what + way_out)
        error.way_out = way_out
        return error


class DataError(AssayError):
    """A file or a table does not say what it should."""

    @classmethod
    def at(cls, where: str, line: int | None, what: str) -> "DataError":
        """An error at a line of a file, as `file:line: what`.

        >>> str(DataError.at("bm25.run", 3, "score is not a number: 'NA'"))
        "bm25.run:3: score is not a number: 'NA'"
        """
        place = where if line is None else f"{where}:{line}"
        return cls(f"{place}: {what}")


class NotCut(DataError):
    """A file that cannot be scored in pieces; where it is small enough, it can be read whole instead."""


class MissingFile(DataError, FileNotFoundError):
    """A path that leads nowhere: an error of ours and, for who looks for that, one of the system."""


class UsageError(AssayError):
    """A name, an option or a parameter that does not exist or does not fit."""


class EngineError(AssayError):
    """Those who were to do the work are gone, or cannot be reached; there is no result."""


class MissingExtra(AssayError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"{self.package} is not installed; install it with: pip install 'assay-ir[{self.extra}]'"
