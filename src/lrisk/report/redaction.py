"""An audit without the data: no cell values, no names of groups."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..analysis.audit import AuditResult, Cause, Repair
from ..analysis.audit.comparing import change_words
from ..analysis.audit.wording import next_steps, summary

#: What replaces a sentence of which nobody can say whether it tells a value.
WITHHELD = "(left out: it may tell a value)"
#: Sentences that are kept: those of the audit that are made of counts and names of
#: spectra only.
_KEPT = re.compile(
    r"The fits were trained on \d+ of \d+ rows, drawn at random; all rows were judged, "
    r"\d+ at a time\."
    r"|Under [a-z_]+(:[\d.,]+)? the best fit ignores all columns and predicts the same "
    r"for every row; [a-z_]+(:[\d.,]+)? was used instead\."
)
#: Options that are kept: names such as "rbf" and "superquantile:0.9".
_OPTION = re.compile(r"[a-z_]+(:[\d.,]+)?")


def redacted(result: AuditResult) -> AuditResult:
    """The same findings without cell values and names of groups.

    Nothing is searched for secrets: only what cannot hold any is kept. Names of
    columns, counts, scores, residuals, coefficients and losses stay. Reasons and causes
    are reduced to the columns they name, repairs to column and kind, notes lose their
    examples, and the summary and the next steps are made anew from what is left.
    """
    columns = [column.name for column in result.columns]
    name_columns = _Lexicon(columns)
    kept = replace(
        result,
        columns=[replace(column, example="") for column in result.columns],
        tail_note=_sentence(result.tail_note),
        sampling=_sentence(result.sampling),
        reasons=[name_columns.within_all(reasons) for reasons in result.reasons],
        flagged=[
            replace(
                row,
                observed="",
                expected="",
                id="",
                values={},
                reasons=name_columns.within_all(row.reasons),
            )
            for row in result.flagged
        ],
        coefficients=[
            replace(shift, name=name_columns.leading(shift.name, f"feature {i + 1}"))
            for i, shift in enumerate(result.coefficients)
        ],
        groups=[
            replace(g, group=f"group {i + 1}") for i, g in enumerate(result.groups)
        ],
        times=[replace(g, group=f"period {i + 1}") for i, g in enumerate(result.times)],
        causes=[_cause(cause, name_columns) for cause in result.causes],
        repairs=[_repair(repair, name_columns) for repair in result.repairs],
        findings=[finding.redacted() for finding in result.findings],
        ids=[],
        observed=[],
        expected=[],
        noisy_range="in one part of its range" if result.noisy_range else "",
        comparison=_comparison(result.comparison),
        options={k: _option(v, columns) for k, v in result.options.items()},
    )
    return replace(kept, summary=summary(kept), next_steps=next_steps(kept))


def _sentence(text: str) -> str:
    return text if not text or _KEPT.fullmatch(text) else WITHHELD


def _option(value: Any, columns: list[str]) -> Any:
    if value is None or isinstance(value, bool | int | float) or value in columns:
        return value
    return value if _OPTION.fullmatch(str(value)) else WITHHELD


class _Lexicon:
    """Finds words of a list in sentences, as whole words, however long the list is."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_token: dict[str, list[tuple[int, str]]] = {}
        self._odd: list[str] = []
        for word in sorted({word for word in words if word}, key=len, reverse=True):
            token = re.search(r"\w+", word)
            if token is None:
                self._odd.append(word)
            else:
                entry = (token.start(), word)
                self._by_token.setdefault(token.group(), []).append(entry)

    def within(self, text: str) -> list[str]:
        """Words that occur in the text, in order, those with no letters last."""
        found = []
        for token in re.finditer(r"\w+", text):
            for offset, word in self._by_token.get(token.group(), ()):
                start = token.start() - offset
                after = text[start + len(word) : start + len(word) + 1]
                whole = not (word[-1].isalnum() and after.isalnum())
                if start >= 0 and text.startswith(word, start) and whole:
                    found.append(word)
                    break
        return [*found, *(word for word in self._odd if word in text)]

    def within_all(self, sentences: list[str]) -> list[str]:
        """Words that occur in any of the sentences, each once."""
        return list(dict.fromkeys(w for text in sentences for w in self.within(text)))

    def leading(self, text: str, otherwise: str) -> str:
        """The word a text begins with: one-hot names hold a column and a value."""
        for word in self.within(text):
            if text.startswith(word):
                return word if text == word else f"{word} (one of its values)"
        return otherwise


def _cause(cause: Cause, columns: _Lexicon) -> Cause:
    named = ", ".join(columns.within(cause.text)) or "the order of the rows"
    text = (
        f"{cause.flagged_with} of {cause.flagged} flagged rows are alike in {named} "
        f"({cause.rows_with} of all {cause.rows} are)."
    )
    return replace(cause, text=text)


def _repair(repair: Repair, columns: _Lexicon) -> Repair:
    named = " and ".join(columns.within(repair.column)) or "a column"
    rows = "1 row fits" if len(repair.rows) == 1 else f"{len(repair.rows)} rows fit"
    kind = repair.kind if re.fullmatch(r"[a-z]+|[x/][\d.]+", repair.kind) else "change"
    return replace(repair, column=named, text=f"{rows} after: {kind} in {named}.")


def _comparison(comparison: dict[str, Any] | None) -> dict[str, Any] | None:
    """The numbers of a comparison, and its sentence made anew from them."""
    if comparison is None:
        return None
    kept: dict[str, Any] = {}
    for key, value in comparison.items():
        if re.fullmatch(r"[a-z_ ]+", key) and (numbers := _numbers(value)) is not None:
            kept[key] = numbers
    if "flagged" in kept and "interval" in kept:
        kept["text"] = change_words(kept)
    return kept


def _numbers(value: Any) -> Any:
    """Numbers, and lists and objects of numbers only; None for anything else."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        entries = [_numbers(entry) for entry in value]
        return None if any(entry is None for entry in entries) else entries
    if isinstance(value, dict):
        inside = {str(key): _numbers(entry) for key, entry in value.items()}
        return None if any(entry is None for entry in inside.values()) else inside
    return None
