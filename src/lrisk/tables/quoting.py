"""Words that may quote cells: those of somebody else's code, and of some refusals."""


class QuotesCells(ValueError):
    """A refusal that quotes cells, or words of somebody else's code that may.

    Attributes
    ----------
    bare : str
        The same without them.
    """

    def __init__(self, message: str, bare: str) -> None:
        super().__init__(message)
        self.bare = bare
