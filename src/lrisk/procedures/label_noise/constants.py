"""What the judgement of labels takes as given."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """Each with its unit, where it comes from, and what it is for."""

    #: Folds of cross-fitting; usual. References are fitted without any two, too.
    folds: int = 5
    #: Rows that a reference is fitted to, at most; all are judged. Taste: time.
    trained: int = 20_000
    #: Least probability by a reference; taste: no single one can veto a class.
    floor: float = 1e-3
    #: Share of labels (or one row) that may be wrong with nothing said; the promise of
    #: clean tables. It bounds what a single row adds to the evidence.
    clean_share: float = 0.005
    #: Standard deviations of the gain above its mean were all labels right; the normal
    #: law's one clean table in 160. Simulated (clean tables of 220 to 1,500 rows): none
    #: of 50 whose classes x determines, 4 of 216 with smooth overlap (8 at 2.0).
    evidence: float = 2.5
    #: Expected share of false flags among flags, at most; taste.
    false_flags: float = 0.2


CONSTANTS = Constants()
