"""Time of USD layers, compared with OpenUSD's own module, which Blender has from 4.5."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bpy
import pytest

from addon.scene.usd_layer import read_layer_time
from tests.tiers import times


@pytest.fixture(scope="module")
def usd() -> Any:
    if not hasattr(bpy.utils, "expose_bundled_modules"):
        pytest.skip("this Blender has no USD module for Python")
    bpy.utils.expose_bundled_modules()
    from pxr import Sdf, Usd

    return Sdf, Usd


def write_layer(usd: Any, path: Path, rng: random.Random) -> Any:
    """Write a layer with random metadata, and so many prims that a crate has blocks of all kinds."""
    sdf, module = usd
    stage = module.Stage.Open(sdf.Layer.CreateNew(str(path)))
    if rng.random() < 0.7:
        stage.SetTimeCodesPerSecond(rng.choice([24, 25, 60, 29.97, 23.976, 1, 1000, rng.uniform(1, 100)]))
    if rng.random() < 0.5:
        stage.SetFramesPerSecond(rng.choice([24, 30, 12.5]))
    if rng.random() < 0.8:
        stage.SetStartTimeCode(rng.choice([0, 1, -5, 1001, rng.uniform(-9, 9)]))
        stage.SetEndTimeCode(rng.choice([1e6, 1002, rng.uniform(1002, 9999)]))
    for number in range(rng.choice([0, 1, 10, 300])):
        prim = stage.DefinePrim(f"/prim{number}", "Xform")
        value = prim.CreateAttribute(f"value{number % 40}", sdf.ValueTypeNames.Double)
        value.Set(float(number))
        value.Set(1.0, float(number))
    stage.GetRootLayer().Save()
    return stage


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_time_is_that_of_openusd(usd, tmp_path, suffix):
    for seed in range(times(10, full=300)):
        path = tmp_path / f"{seed}{suffix}"
        stage = write_layer(usd, path, random.Random(seed))
        codes = (
            (stage.GetStartTimeCode(), stage.GetEndTimeCode()) if stage.HasAuthoredTimeCodeRange() else None
        )
        assert read_layer_time(path) == (stage.GetTimeCodesPerSecond(), codes), path


def test_time_of_a_package_is_that_of_its_first_file(usd, tmp_path):
    import zipfile

    stage = write_layer(usd, tmp_path / "root.usdc", random.Random(3))
    with zipfile.ZipFile(tmp_path / "all.usdz", "w") as package:
        package.write(tmp_path / "root.usdc", "root.usdc")
    assert read_layer_time(tmp_path / "all.usdz").rate == stage.GetTimeCodesPerSecond()


def test_damaged_crate_has_a_time_or_raises_value_error(usd, tmp_path):
    whole = tmp_path / "whole.usdc"
    write_layer(usd, whole, random.Random(1))
    content, rng = whole.read_bytes(), random.Random(2)
    refused = 0
    for number in range(times(200, full=5000)):
        damaged = bytearray(content[: rng.randrange(8, len(content))] if number % 2 else content)
        for _ in range(rng.choice([0, 1, 20])):
            damaged[rng.randrange(8, len(damaged))] = rng.randrange(256)
        path = tmp_path / "damaged.usdc"
        path.write_bytes(damaged)
        try:
            assert read_layer_time(path).rate > 0
        except ValueError:
            refused += 1
    assert refused


def test_name_in_a_string_of_the_metadata_is_not_its_value(tmp_path):
    path = tmp_path / "layer.usda"
    path.write_text(
        '#usda 1.0\n(\n    doc = "timeCodesPerSecond = 5"\n    timeCodesPerSecond = 48\n)\n'
        'def Xform "A" {\n    double timeCodesPerSecond = 7\n}\n'
    )
    assert read_layer_time(path) == (48, None)
