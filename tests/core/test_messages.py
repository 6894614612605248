"""Messages are English sentences that keep their template and values."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from addon.core import CollisionBoundsError
from addon.core.messages import message, template


def test_message_is_a_text_and_keeps_template_and_values():
    text = message("{name!r}: {size:.1f} m, {{base}}", name="a {b}", size=2.25)
    assert text == "'a {b}': 2.2 m, {base}"
    assert json.dumps(text) == json.dumps(str(text))
    assert (text.template, text.values) == (
        template("{name!r}: {size:.1f} m, {{base}}"),
        {"name": "a {b}", "size": 2.25},
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_copies_of_messages_are_messages(copied):
    text = copied(message("{name} is hidden", name="Cube"))
    assert (text, text.template, text.values) == ("Cube is hidden", "{name} is hidden", {"name": "Cube"})


def test_error_has_the_message_that_was_raised():
    text = message("{name}: has no faces", name="Cube")
    assert CollisionBoundsError(text).message is text
    assert str(CollisionBoundsError(text)) == text
    assert CollisionBoundsError("no faces").message == "no faces"
    assert CollisionBoundsError().message == ""
