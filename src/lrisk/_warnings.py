"""Warnings of lrisk's own."""


class CollapsedFitWarning(UserWarning):
    """The fit ignores the features: its spectrum, or its penalty, is too strong."""


class NoiseMismatchWarning(UserWarning):
    """The noise or the second copy does not fit the rows, or is past correcting."""
