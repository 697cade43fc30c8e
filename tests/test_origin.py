"""Where errors come from: a statement, Python itself, and whose module."""

import json

import pytest

from lrisk._origin import Origin


def refusal(x):
    if x:
        raise TypeError(
            "of two lines"
        )  # fmt: skip
    return None


def failure(x):
    return x + "text"


def cleaned_up(x):
    try:
        return refusal(x)
    finally:
        x = 0


@pytest.mark.parametrize(
    ("what", "stated"),
    [(refusal, True), (cleaned_up, True), (failure, False), (len, False)],
)
def test_statements_and_what_python_says(what, stated):
    with pytest.raises(TypeError) as caught:
        what(1)
    origin = Origin.of(caught.value)
    assert (origin.module, origin.stated) == (__name__, stated)
    assert origin.package == __name__.partition(".")[0] and origin.line > 0


def test_the_innermost_place_of_a_module():
    def own(x):
        json.dumps(x)

    with pytest.raises(TypeError) as caught:
        own(object())
    inner, outer = Origin.of(caught.value), Origin.of(caught.value, {__name__})
    assert inner.module == "json.encoder" and inner.stated
    assert outer.module == __name__ and not outer.stated
    assert outer.line == own.__code__.co_firstlineno + 1


def test_an_error_that_was_not_raised_comes_from_nowhere():
    assert Origin.of(TypeError()) == ("", 0, False)
    with pytest.raises(TypeError) as caught:
        failure(1)
    assert Origin.of(caught.value, {"elsewhere"}).module == ""
