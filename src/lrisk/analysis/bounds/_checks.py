"""The checks that all bounds share."""

from ..._params import check_real


def check_sizes(owner: str, **values: float) -> None:
    """Raise unless each value is a finite number of at least zero."""
    remedy = "it is a size: a norm, a deviation, a variance or a distance"
    for name, value in values.items():
        check_real(owner, name, value, low=0, remedy=remedy)


def check_positive(owner: str, remedy: str, **values: float) -> None:
    """Raise unless each value is a finite number above zero."""
    for name, value in values.items():
        check_real(owner, name, value, low=0, low_open=True, remedy=remedy)


def check_share(owner: str, epsilon: float) -> None:
    """Raise unless ε, the share of wrong rows, is in [0, ½)."""
    remedy = "from one half on nothing can be told"
    check_real(owner, "epsilon", epsilon, low=0, high=0.5, high_open=True,
               remedy=remedy)  # fmt: skip
