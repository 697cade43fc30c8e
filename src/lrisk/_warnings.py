"""Warnings of lrisk's own."""


class CollapsedFitWarning(UserWarning):
    """The best fit under this spectrum ignores the features."""


class NoiseMismatchWarning(UserWarning):
    """The noise or the second copy does not fit the rows, or is past correcting."""
