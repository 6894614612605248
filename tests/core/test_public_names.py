"""Docstrings of the public names of `addon.core`: shapes, errors, guarantees."""

from __future__ import annotations

import inspect

import pytest

from addon import core

FUNCTIONS = [name for name in core.__all__ if inspect.isfunction(getattr(core, name))]
CLASSES = [name for name in core.__all__ if inspect.isclass(getattr(core, name))]
GUARANTEES = ("xact", "onservative", "nclose", "rounded up", "inside", "never late")


@pytest.mark.smoke
def test_every_public_name_exists():
    assert len(set(core.__all__)) == len(core.__all__)
    for name in core.__all__:
        assert hasattr(core, name), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_of_function_has_shapes_errors_and_guarantee(name):
    text = inspect.getdoc(getattr(core, name)) or ""
    assert "(" in text, "no array shape"
    assert "aises" in text, "no errors"
    assert any(word in text for word in GUARANTEES), "no guarantee"


@pytest.mark.parametrize("name", CLASSES)
def test_class_and_its_public_members_have_docstrings(name):
    kind = getattr(core, name)
    # A dataclass without a docstring gets one that repeats its fields.
    assert kind.__doc__ and not kind.__doc__.startswith(f"{name}("), name
    for member, value in vars(kind).items():
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
            assert inspect.getdoc(value), f"{name}.{member}"
