"""What the judgement of labels takes as given."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """Each with its unit, where it comes from, and what half and twice of it do.

    Measured on breast cancer, digits, a circle and a curved boundary of up to 1,200
    rows, clean, with 20 and 40 % uniform flips and 20 % of one class into another (one
    seed); `floor` twice, `clean_share` and `evidence` on the first and third of these.
    """

    #: Folds of cross-fitting; usual. References are fitted without any two, too. With 3
    #: precision falls from .95 to .92 and recall rises from .59 to .66; with 10 they
    #: are .97 and .59, for about four times as many fits.
    folds: int = 5
    #: Rows that a reference is fitted to, at most; all are judged. Taste: time, which
    #: grows in proportion. At 600, half of these tables, average precision falls from
    #: .91 to .87.
    trained: int = 20_000
    #: Least probability by a reference; taste: no single one can veto a class. Half and
    #: twice change nothing.
    floor: float = 1e-3
    #: Share of labels (or one row) that may be wrong with nothing said; the promise of
    #: clean tables. It bounds what a single row adds to the evidence. Half and twice
    #: change no answer, and no figure in its third digit.
    clean_share: float = 0.005
    #: Standard deviations of the gain above its mean were all labels right; the normal
    #: law's one clean table in 160. Simulated (clean tables of 220 to 1,500 rows): none
    #: of 50 whose classes x determines, 4 of 216 with smooth overlap (8 at 2.0). At
    #: half fewer tables cannot tell (1 of 6 instead of 2), and precision falls from .98
    #: to .96; twice was not measured.
    evidence: float = 2.5
    #: Expected share of false flags among flags, at most; taste, and what it promises:
    #: half and twice of it allow half and twice as many. Not measured.
    false_flags: float = 0.2


CONSTANTS = Constants()
