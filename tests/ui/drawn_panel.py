"""Panels drawn on a layout that records its contents, because Blender draws no panels without a window."""

from __future__ import annotations

from types import MethodType, SimpleNamespace

import bpy

ICONS = {
    item.identifier for item in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
}


class Layout:
    """Stand-in for Blender's layout that records its contents, and checks that properties and icons exist."""

    def __init__(self, page, enabled=True):
        self.page = page
        self.enabled = enabled

    def row(self, **_):
        return Layout(self.page, self.enabled)

    column = split = grid_flow = menu_pie = box = row

    def prop_enum(self, data, name, value, **_):
        assert value in {item.identifier for item in data.bl_rna.properties[name].enum_items}

    def menu(self, name, icon="NONE", **_):
        assert icon in ICONS
        # Blender's menu search includes submenus.
        getattr(bpy.types, name).draw(self.page, bpy.context)

    def separator(self, **_):
        pass

    def panel(self, _identifier, default_closed):
        return self.row(), self.row() if self.page.unfolded or not default_closed else None

    def popover(self, panel, text="", icon="NONE", translate=True):
        assert icon in ICONS
        self.page.popovers.append(text)
        # What it shows when it is clicked.
        getattr(bpy.types, panel).draw(self.page, bpy.context)

    def prop(self, data, name, icon="NONE", **_):
        assert name in data.bl_rna.properties
        assert icon in ICONS
        self.page.options[name] = self.enabled

    def operator_menu_enum(self, name, choice, **more):
        group, function = name.split(".")
        assert choice in getattr(getattr(bpy.ops, group), function).get_rna_type().properties
        self.operator(name, **more)

    def prop_menu_enum(self, data, name, **more):
        self.prop(data, name, **more)

    def prop_search(self, data, name, _search, _search_name, **more):
        self.prop(data, name, **more)

    def label(self, text="", icon="NONE", translate=True):
        assert icon in ICONS
        self.page.labels.append(text)
        if not self.enabled:
            self.page.greyed_labels.append(text)

    def operator(self, name, icon="NONE", **_):
        assert icon in ICONS
        group, function = name.split(".")
        assert function in dir(getattr(bpy.ops, group))
        self.page.buttons.append(name)
        if not self.enabled:
            self.page.greyed.append(name)
        return SimpleNamespace()

    def template_list(self, *_, **__):
        pass

    def template_icon(self, icon_value, scale):
        assert icon_value >= 0 and scale > 0

    def progress(self, **_):
        self.page.progress_bars += 1


class Page:
    """Contents of a panel: options, whether they are enabled, labels, buttons, greyed buttons, popovers.

    What a popover or menu shows is part of the page. Progress bars are counted.
    """

    def __init__(self, panel, unfolded=True):
        self.panel, self.unfolded = panel, unfolded
        self.options, self.labels, self.buttons, self.greyed, self.popovers = {}, [], [], [], []
        self.greyed_labels, self.progress_bars = [], 0
        self.layout = Layout(self)
        if hasattr(panel, "draw_header"):
            panel.draw_header(self, bpy.context)
        panel.draw(self, bpy.context)

    def __getattr__(self, name):
        """Return a value of the panel, or a method, which draws here."""
        value = getattr(self.panel, name)
        return MethodType(value, self) if callable(value) else value
