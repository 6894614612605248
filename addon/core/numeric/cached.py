"""Cached attributes of objects that cannot change."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    CachedAttribute = cached_property
else:

    class CachedAttribute(cached_property):
        """A cached property without a lock: until Python 3.11, one is held for all objects of a class.

        A window that needs the attribute of another object while a computation pauses would wait forever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Compute the attribute, which takes precedence over this from then on."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
