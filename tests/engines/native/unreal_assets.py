"""The part of Unreal's Python API that writes simple collision, as a stub that records what is set."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, ClassVar


class Properties:
    """Object or struct with editor properties; `modify`, as Unreal names it, counts its calls."""

    NAMES: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.modified = 0

    def get_editor_property(self, name: str) -> Any:
        assert name in self.NAMES, name
        return self.values[name]

    def set_editor_property(self, name: str, value: Any, notify_mode: Any = None) -> None:
        assert name in self.NAMES, name
        self.values[name] = value
        if notify_mode is not None:
            self.notified = notify_mode

    def modify(self, always_mark_dirty: bool = True) -> bool:
        self.modified += 1
        return True


class KBoxElem(Properties):
    NAMES = ("center", "rotation", "x", "y", "z")


class KSphereElem(Properties):
    NAMES = ("center", "radius")


class KSphylElem(Properties):
    NAMES = ("center", "rotation", "radius", "length")


class KConvexElem(Properties):
    def import_text(self, content: str) -> bool:
        """Read text as Unreal writes structs: nested lists of name=value in parentheses."""
        number = r"(-?[\d.]+(?:e-?\d+)?)"
        vector = rf"\(X={number},Y={number},Z={number}\)"
        whole = (
            rf"\(VertexData=\(({vector}(?:,{vector})*)\),ElemBox=\(Min={vector},Max={vector},IsValid=True\)\)"
        )
        found = re.fullmatch(whole, content)
        if found is None:
            return False
        self.vertices = [[*map(float, each)] for each in re.findall(vector, found[1])]
        low, high = found.groups()[-6:-3], found.groups()[-3:]
        self.low, self.high = [*map(float, low)], [*map(float, high)]
        return True


class KAggregateGeom(Properties):
    NAMES = ("box_elems", "sphere_elems", "sphyl_elems", "convex_elems")


class BodyInstance(Properties):
    NAMES = ("collision_profile_name",)


class BodySetup(Properties):
    NAMES = ("agg_geom", "default_instance", "phys_material")

    def __init__(self) -> None:
        super().__init__()
        self.values["default_instance"] = BodyInstance()


class StaticMesh(Properties):
    NAMES = ("body_setup", "customized_collision")

    def __init__(self) -> None:
        super().__init__()
        self.values["body_setup"] = BodySetup()


class PhysicalMaterial(Properties):
    pass


class TopLevelAssetPath:
    def __init__(self, package_name: str = "", asset_name: str = "") -> None:
        self.package_name, self.asset_name = package_name, asset_name


class AssetData:
    def __init__(self, package_path: str, asset_name: str, asset: Any) -> None:
        self.package_path, self.asset_name, self.asset = package_path, asset_name, asset

    def get_asset(self) -> Any:
        return self.asset


class AssetRegistry:
    """Registry of a project, whose assets a test sets."""

    assets: ClassVar[dict[str, Any]] = {}

    def get_assets_by_class(
        self, class_path_name: Any, search_sub_classes: bool = False
    ) -> list[AssetData] | None:
        found = [
            AssetData(path.rpartition("/")[0], path.rpartition("/")[2], asset)
            for path, asset in self.assets.items()
            if type(asset).__name__ == class_path_name.asset_name
        ]
        return found or None


class AssetRegistryHelpers:
    @staticmethod
    def get_asset_registry() -> AssetRegistry:
        return AssetRegistry()


class PropertyAccessChangeNotifyMode(Enum):
    ALWAYS = 1


class ScopedEditorTransaction:
    def __init__(self, desc: str) -> None:
        self.desc = desc

    def __enter__(self) -> ScopedEditorTransaction:
        return self

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        pass


STUBS = (
    KBoxElem,
    KSphereElem,
    KSphylElem,
    KConvexElem,
    KAggregateGeom,
    AssetRegistryHelpers,
    TopLevelAssetPath,
    PropertyAccessChangeNotifyMode,
    ScopedEditorTransaction,
)
DESCRIBED = (
    *(KBoxElem, KSphereElem, KSphylElem, KAggregateGeom, BodyInstance, BodySetup, StaticMesh),
    *(AssetRegistry, AssetRegistryHelpers, AssetData, TopLevelAssetPath, ScopedEditorTransaction),
)
"""Classes whose editor properties and methods are compared with the description of the API."""
