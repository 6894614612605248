"""A panel drawn on a layout that writes down what it is given; Blender draws none without a window."""

from __future__ import annotations

from types import SimpleNamespace

import bpy


class Layout:
    """Takes everything that a panel may ask of a layout, and checks that properties exist."""

    def __init__(self, page, enabled=True):
        self.page = page
        self.enabled = enabled

    def row(self, **_):
        return Layout(self.page, self.enabled)

    column = split = grid_flow = row

    def prop_enum(self, data, name, value, **_):
        assert value in {item.identifier for item in data.bl_rna.properties[name].enum_items}

    def menu(self, name, **_):
        # Searching goes into menus of menus.
        getattr(bpy.types, name).draw(self.page, bpy.context)

    def separator(self, **_):
        pass

    def panel(self, _identifier, default_closed):
        assert default_closed
        return self.row(), self.row() if self.page.unfolded else None

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties
        self.page.options[name] = self.enabled

    def label(self, text="", icon="NONE"):
        self.page.labels.append(text)

    def operator(self, name, **_):
        self.page.buttons.append(name)
        if not self.enabled:
            self.page.greyed.append(name)
        return SimpleNamespace()

    def template_list(self, *_, **__):
        pass

    def progress(self, **_):
        pass


class Page:
    """What is on a panel: options and whether they can be changed, labels, buttons, those greyed by it."""

    def __init__(self, panel, unfolded=True):
        self.unfolded = unfolded
        self.options, self.labels, self.buttons, self.greyed = {}, [], [], []
        self.layout = Layout(self)
        panel.draw(self, bpy.context)
