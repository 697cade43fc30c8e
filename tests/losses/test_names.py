"""Losses by name."""

import pytest

from lrisk.losses import (
    CLASS_LOSSES,
    LOSSES,
    NUMBER_LOSSES,
    Absolute,
    Huber,
    Logistic,
    Pinball,
    Squared,
    SquaredHinge,
    parse_loss,
)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("squared", Squared()),
        ("huber", Huber(1.35)),
        ("Huber:2", Huber(2.0)),
        ("absolute", Absolute()),
        ("pinball", Pinball(0.5)),
        ("pinball:0.9", Pinball(0.9)),
        ("squared-hinge", SquaredHinge()),
        ("logistic", Logistic()),
    ],
)
def test_parse(text, loss):
    assert parse_loss(text) == loss


def test_objects_pass_through():
    loss = Huber(3.0)
    assert parse_loss(loss) is loss


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hubber", r"did you mean 'huber'\?"),
        ("zzz", "one of squared, huber"),
        ("huber:0", "delta must be"),
        ("huber:a", "followed by delta"),
        ("pinball:0.1:0.2", "followed by tau"),
        ("absolute:1", "no parameter"),
    ],
)
def test_bad_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_loss(text)


def test_only_some_will_do():
    assert NUMBER_LOSSES.keys() | CLASS_LOSSES.keys() == LOSSES.keys() - {"multinomial"}
    for loss in ("logistic", Logistic()):
        with pytest.raises(ValueError, match="one of squared, huber"):
            parse_loss(loss, NUMBER_LOSSES)
    with pytest.raises(TypeError, match="a name such as 'logistic'"):
        parse_loss(3, CLASS_LOSSES)
