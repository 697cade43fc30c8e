"""Warnings of lrisk's own."""


class CollapsedFitWarning(UserWarning):
    """The best fit under this spectrum ignores the features."""
