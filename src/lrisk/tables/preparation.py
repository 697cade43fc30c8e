"""From tables to the matrix that models take, learnt from training rows only."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import check_typical_size
from .._params import check_choice, check_count, check_real, refused
from .._typing import AnyArray, Floats, Indices
from ..procedures.label_noise import FeatureScaling, plain_scaling
from .cells import distinct, is_table, raw_columns
from .columns import Column, typed_columns
from .rules import ColumnRule
from .table import check_names, check_present

#: Rows that a level needs to have a column of its own, whatever its share.
LEVEL_ROWS = 5
#: Most columns of all levels together.
MOST_ONE_HOT = 300
#: Missing training cells from which on being missing is a feature.
MISSING_ROWS = 5


class TablePreparation(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, words and dates into a matrix of numbers.

    What each column holds is found out when fitting: numbers (also as text: "1,234.5",
    "250 kg", "12 %"), dates, booleans or levels. Identifiers, free text and constants
    are left out. Missing numbers become the median, and a column says where they were
    if there are five or more. Levels are one-hot encoded, rare ones pooled. Columns are
    standardised; cells far outside the bulk have a bounded influence on that.

    New tables are read as the training table was: a column of decimal commas, or of
    dates with the day first, stays one. Their columns may stand in any order, and may
    be more.

    Parameters
    ----------
    min_frequency : int or float in [0, 1), default=0.01
        Rows, or share of the rows, that a level needs to have a column of its own; a
        share is never less than five rows.
    max_categories : int, default=20
        Most levels of one column that have columns of their own. All columns together
        have at most about 300.
    standardize : bool, default=True
        Whether to subtract the mean and divide by the standard deviation.

    Attributes
    ----------
    kinds_ : dict of str
        What each column holds, by its name: "numeric", "categorical", "boolean" or
        "date"; "identifier", "text" and "constant" are left out.
    notes_ : dict of str
        How columns were read, by name, where there is something to say.
    origin_ : array of int of shape (n_features_out,)
        Position in the table of the column that each column of the matrix comes from.
    scaling_ : named tuple (centre, scale) of arrays of shape (n_features_out,)
    n_features_in_ : int
    feature_names_in_ : array of str of shape (n_features,)
        Only if the table had names.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Where each column's steps are chosen by hand.
    lrisk.audit : Uses this preparation.

    Examples
    --------
    >>> from lrisk import TablePreparation
    >>> table = {"size": ["40 m2", "65 m2", "90 m2", None, "120 m2"] * 4,
    ...          "kind": ["flat", "flat", "house", "flat", "house"] * 4}
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['size', 'kind=flat', 'kind=house']
    >>> preparation.transform({"size": ["77.5 m2"], "kind": ["flat"]}).round(2)
    array([[-0.04,  0.82, -0.82]])
    >>> preparation.notes_
    {'size': 'Read as numbers in m2.'}

    In a pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> from lrisk import RobustRegressor
    >>> model = make_pipeline(TablePreparation(), RobustRegressor())
    """

    def __init__(
        self,
        min_frequency: float = 0.01,
        max_categories: int = 20,
        standardize: bool = True,
    ) -> None:
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns hold, and learn medians, levels and scales.

        Parameters
        ----------
        X : pandas or polars DataFrame, dict of columns, or array of shape (n, d)
        y : ignored, default=None

        Returns
        -------
        self
        """
        names, raw = self._raw(X, reset=True)
        check_names(names)
        columns = typed_columns(names, raw)
        return self._fit(columns, named=is_table(X))

    def fit_columns(self, columns: list[Column]) -> Self:
        """Fit to columns whose contents were found out before.

        Parameters
        ----------
        columns : list of Column

        Returns
        -------
        self
        """
        return self._fit(columns, named=True)

    def transform(self, X: Any) -> Floats:
        """The matrix of a table.

        Parameters
        ----------
        X : pandas or polars DataFrame, dict of columns, or array of shape (n, d)

        Returns
        -------
        array of shape (n, n_features_out)
        """
        check_is_fitted(self)
        names, raw = self._raw(X, reset=False)
        if is_table(X) and hasattr(self, "feature_names_in_"):
            check_present([rule.name for rule in self._rules], names)
            at = [names.index(rule.name) for rule in self._rules]
        else:
            at = self._places
        columns = [rule.read(raw[place]) for rule, place in zip(self._rules, at)]
        return self.transform_columns(columns)

    def transform_columns(self, columns: list[Column]) -> Floats:
        """The matrix of those columns that `fit_columns` took for features.

        Parameters
        ----------
        columns : list of Column

        Returns
        -------
        array of shape (n, n_features_out)
        """
        return self.scaling_(self._encoded(columns))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns of the matrix.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of the table, if it had none.

        Returns
        -------
        array of str of shape (n_features_out,)
        """
        check_is_fitted(self)
        names = self._names_in() if input_features is None else list(input_features)
        if len(names) != self.n_features_in_:
            rule = f"{self.n_features_in_} names"
            message = refused(self, "input_features", rule, len(names), "name each")
            raise ValueError(f"{message} input_features should have length equal")
        if input_features is not None and names != self._names_in(names):
            raise ValueError("input_features is not equal to feature_names_in_")
        out = [f"{names[j]}{ending}" for j, ending in zip(self.origin_, self._endings)]
        return np.array(distinct(out), dtype=object)

    def _names_in(self, default: list[str] | None = None) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        return default or [f"x{j}" for j in range(self.n_features_in_)]

    def _raw(self, X: Any, reset: bool) -> tuple[list[str], list[AnyArray]]:
        """Names and cells of the columns of a table."""
        if is_table(X):
            names, raw = raw_columns(X)
            unnamed = not reset and not hasattr(self, "feature_names_in_")
            if unnamed and len(names) != self.n_features_in_:
                rule = f"of {self.n_features_in_} columns, as in fit"
                remedy = "pass the columns of training"
                raise ValueError(refused(self, "X", rule, len(names), remedy))
            return names, raw
        if reset:
            self._forget_names()
        return raw_columns(
            validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        )

    def _forget_names(self) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fit(self, columns: list[Column], named: bool) -> Self:
        check_count(self, "max_categories", self.max_categories, low=1)
        check_choice(self, "standardize", self.standardize, (True, False))
        self.n_features_in_ = len(columns)
        self._forget_names()
        if named:
            names = [column.name for column in columns]
            self.feature_names_in_ = np.array(names, dtype=object)
        self.kinds_ = {column.name: column.kind for column in columns}
        self.notes_ = {column.name: column.note for column in columns if column.note}
        self._places = [j for j, column in enumerate(columns) if column.is_feature]
        features = [columns[j] for j in self._places]
        if not features:
            rule = "a table of at least one column that varies and is no identifier"
            got = f"{len(columns)} that are not, n_samples = {len(columns[0].values)}"
            raise ValueError(refused(self, "X", rule, got, "add features or rows"))
        for column in features:
            if column.kind == "numeric":
                name = f"column {column.name[:60]}"
                check_typical_size(self, name, column.values)
        self._rules = [ColumnRule.of(column) for column in features]
        self._learn(features)
        X = self._encoded(features)
        if self.standardize:
            self.scaling_ = plain_scaling(X, np.ones(len(X)))
        else:
            self.scaling_ = FeatureScaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        return self

    def _learn(self, features: list[Column]) -> None:
        """Medians, marked columns and levels, and where each output comes from."""
        numbers = _numbers(features)
        missing = np.isnan(numbers)
        enough = missing.sum(axis=0) >= MISSING_ROWS
        some = ~missing.all(axis=0)
        self._marked = np.flatnonzero(enough & some)
        # Places, among the features, of numbers and of levels.
        self._numeric = [j for j, own in enumerate(features) if not own.has_levels]
        self._words = [j for j, own in enumerate(features) if own.has_levels]
        origin = [*self._numeric, *(self._numeric[j] for j in self._marked)]
        endings = [""] * len(self._numeric) + [" is missing"] * len(self._marked)
        # Not SimpleImputer: it keeps a dtype, which model files rightly do not trust.
        self._medians = np.zeros(numbers.shape[1])
        self._medians[some] = np.nanmedian(numbers[:, some], axis=0)
        if self._words:
            self._ranks = [_ranks(features[j]) for j in self._words]
            levels = self._levels(features)
            self._encoder = self._one_hot(levels).fit(levels)
            own = [self._level_names(features[j], i)
                   for i, j in enumerate(self._words)]  # fmt: skip
            origin += [j for j, names in zip(self._words, own) for _ in names]
            endings += [name for names in own for name in names]
        self._endings = endings
        self.origin_ = np.array([self._places[j] for j in origin], dtype=np.int64)

    def _one_hot(self, levels: Floats) -> OneHotEncoder:
        least = self.min_frequency
        if isinstance(least, float | np.floating):
            check_real(self, "min_frequency", least, low=0, high=1, high_open=True,
                       remedy="pass a share, or a whole number of rows")  # fmt: skip
            least = max(LEVEL_ROWS, int(np.ceil(least * len(levels))))
        check_count(self, "min_frequency", least, low=0)
        most = min(self.max_categories, max(MOST_ONE_HOT // levels.shape[1], 1))
        return OneHotEncoder(
            min_frequency=max(int(least), 1),
            max_categories=most + 1,  # the last pools the others
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )

    def _encoded(self, features: list[Column]) -> Floats:
        """The matrix before it is standardised."""
        parts: list[Floats] = []
        if self._numeric:
            numbers = _numbers(features)
            missing = np.isnan(numbers)
            parts.append(np.where(missing, self._medians, numbers))
            parts.append(missing[:, self._marked].astype(np.float64))
        if self._words:
            parts.append(self._encoder.transform(self._levels(features)))
        return np.column_stack(parts)

    def _levels(self, features: list[Column]) -> Floats:
        """Ranks of the levels of all columns that have any; unseen ones come last."""
        columns = []
        for j, ranks in zip(self._words, self._ranks):
            codes, unseen = features[j].values, len(ranks) - 1
            columns.append(
                np.where(codes < unseen, ranks[codes.clip(-1, unseen)], unseen)
            )
        return np.column_stack(columns)

    def _level_names(self, column: Column, at: int) -> list[str]:
        """Endings of the names of the columns that the encoder makes of one."""
        rare = self._encoder.infrequent_categories_[at]
        pooled = set() if rare is None else {str(rank) for rank in rare}
        levels = dict(zip(self._ranks[at], column.levels))
        names = [
            " is missing" if np.isnan(rank) else f"={levels[rank]}"[:100]
            for rank in self._encoder.categories_[at]
            if str(rank) not in pooled
        ]
        return names + (["=(other)"] if pooled else [])

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn should know: cells may be missing, or words."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class Preparation:
    """Turn rows of columns that were read once into numbers, for all folds.

    It is `TablePreparation` without a frame for each fold.

    Parameters
    ----------
    columns : list of Column
        The columns of all rows.

    See Also
    --------
    TablePreparation : For frames, in pipelines.

    Examples
    --------
    >>> import numpy as np
    >>> from lrisk.tables import Preparation, table_of
    >>> table = table_of({"size": [1, 2, 4], "y": [1.0, 3.0, 2.0]}, "y")
    >>> preparation = Preparation(table.columns).fit(np.array([0, 1]))
    >>> preparation.transform(np.array([2])).shape
    (1, 1)
    """

    def __init__(self, columns: list[Column]) -> None:
        self.columns = columns
        self.table = TablePreparation()

    def fit(self, rows: Indices) -> Self:
        """Learn from these rows of the columns."""
        self.table.fit_columns([column.take(rows) for column in self.columns])
        self.names_: list[str] = self.table.get_feature_names_out().tolist()
        self.origin_ = self.table.origin_
        self.scaling_ = self.table.scaling_
        return self

    def transform(self, rows: Indices) -> Floats:
        """The matrix of these rows, of shape ``(len(rows), len(names_))``."""
        return self.table.transform_columns([c.take(rows) for c in self.columns])

    def position(self, column: int) -> int:
        """Where the numbers of a numeric column are in the matrix."""
        return int(np.flatnonzero(self.origin_ == column)[0])


def _numbers(columns: list[Column]) -> Floats:
    """Numbers of the columns that hold any, of shape (n, their count)."""
    own = [column.values for column in columns if not column.has_levels]
    return np.column_stack(own) if own else np.zeros((len(columns[0].values), 0))


def _ranks(column: Column) -> Floats:
    """Each level's rank by frequency here, then NaN for the code −1 of missing cells.

    Codes count levels in all rows that were read; ranks know of training rows only.
    """
    codes = column.values[column.values >= 0]
    counts = np.bincount(codes, minlength=len(column.levels))
    order = np.lexsort((np.array(column.levels, dtype=str), -counts))
    ranks = np.empty(len(order) + 1)
    ranks[order], ranks[-1] = np.arange(len(order)), np.nan
    return ranks
