"""What the judgement of labels takes as given."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """Each with its unit, where it comes from, and what it is for.

    Attributes
    ----------
    folds : int
        Of cross-fitting. Usual; pairs of folds are fitted too, so cost grows as n².
    trained : int
        Rows that a reference is fitted to, at most (all rows are judged). Taste: time.
    floor : float
        Least probability of a reference: no single one can veto a class.
    clean_share : float
        Share of labels that may be wrong without anything being said; one row in small
        tables. It bounds what a single row can add to the evidence.
    evidence : float
        Standard deviations by which the gain of T must exceed its mean were all labels
        right.
    support : float
        Nats from the highest profile at which a share is not excluded: half the 90 %
        point of χ² with one degree of freedom.
    false_flags : float
        Expected share of false flags among flags, at most. Taste.
    """

    folds: int = 5
    trained: int = 20_000
    floor: float = 1e-3
    clean_share: float = 0.005
    evidence: float = 2.5
    support: float = 1.353
    false_flags: float = 0.2


CONSTANTS = Constants()
