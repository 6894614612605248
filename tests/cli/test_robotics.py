"""Files for robots and simulators of the command line: suffixes, bytes, and refused requests."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from addon.formats.export.robotics.text import link_names
from tests.cli.command_line import run, start
from tests.formats.export.robotics.robot_files import read_mjcf, read_spheres, read_urdf

FORMATS = {"urdf": ".urdf", "mjcf": ".xml", "usd": ".usda", "curobo": ".yml"}


@pytest.mark.parametrize(("name", "suffix"), FORMATS.items())
def test_suffix_and_format_write_the_same_bytes(scene, tmp_path, name, suffix):
    target, other = tmp_path / f"a{suffix.upper()}", tmp_path / "a.txt"
    assert run("bounds", scene, "-q", "-o", target).returncode == 0
    assert run("bounds", scene, "-q", "-o", other, "--format", name).returncode == 0
    assert target.read_bytes() == other.read_bytes()
    assert run("bounds", scene, "-o", "-", "--format", name).stdout == target.read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_bytes_are_the_same_in_another_process(scene, name):
    # The order of sets differs between processes.
    arguments = ("bounds", scene, "-o", "-", "--format", name, "--shapes", "spheres,sphere,aabb")
    assert start(*arguments).stdout == run(*arguments).stdout != ""


@pytest.mark.smoke
def test_links_enclose_the_objects_of_the_document(scene):
    entries = json.loads(run("bounds", scene, "-o", "-").stdout)["objects"]
    texts = {
        name: run("bounds", scene, "-o", "-", "--format", name, "--shapes", "sphere").stdout
        for name in FORMATS
    }
    urdf, mjcf = read_urdf(texts["urdf"])[0], read_mjcf(texts["mjcf"])[0]
    spheres = read_spheres(texts["curobo"])
    assert len(entries) == len(mjcf) == len(spheres) == len(urdf) - 1 == 2
    names = link_names(entry["name"] for entry in entries)
    for name, entry in zip(names, entries, strict=True):
        center, radius = entry["world"]["sphere"]["center"], entry["world"]["sphere"]["radius"]
        for solid in (*urdf[name], *mjcf[name]):
            np.testing.assert_allclose(solid.translation, center, rtol=0, atol=1e-9)
            assert solid.sizes == pytest.approx((radius,), rel=0, abs=1e-9)
        assert f'def Xform "{name}"' in texts["usd"] and f'displayName = "{entry["name"]}"' in texts["usd"]


def test_free_joints_are_written_on_request(scene, tmp_path):
    target = tmp_path / "a.xml"
    assert run("bounds", scene, "-q", "-o", target, "--free-joints").returncode == 0
    assert len(list(ElementTree.parse(target).iter("freejoint"))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("contacts", "--format", "urdf"), "a URDF file cannot store contacts; write a .json or .csv file"),
        (
            ("bounds", "--envelope", "-o", "a.xml"),
            "an MJCF file cannot store --envelope; write a .json or .gltf file instead",
        ),
        (("bounds", "--tracks", "--format", "usd"), "a USD Physics file cannot store --tracks"),
        (("bounds", "--shapes", "hull", "--format", "urdf"), "URDF file cannot store these shapes; add aabb"),
        (
            ("bounds", "--shapes", "aabb,obb", "--format", "curobo"),
            "--shapes aabb,obb: a list of spheres cannot store these shapes; add sphere",
        ),
        (
            ("bounds", "--parts", "4", "--format", "urdf"),
            "a URDF file cannot store hulls of parts; add --part-shape box",
        ),
        (("bounds", "--parts", "4", "-o", "a.csv"), "a.csv: a table cannot store convex parts; omit --parts"),
        (("bounds", "--parts", "0"), "argument --parts: '0' is not a whole number from 1 to 256"),
        (("bounds", "--part-shape", "box"), "--part-shape: only valid with --parts or --shapes compound"),
        (("bounds", "--parts-tolerance", "1"), "--parts-tolerance: only valid with --parts"),
        (("bounds", "--preset", "gltf", "--format", "mjcf"), "an MJCF file has fixed axes and units"),
        (("bounds", "--free-joints", "--format", "urdf"), "--free-joints: only valid with --format mjcf"),
        (("bounds", "--free-joints"), "--free-joints: only valid with --format mjcf or a FILE.xml"),
        (("contacts", "--free-joints"), "unknown option --free-joints"),
    ],
)
def test_unsupported_request_is_rejected_in_one_line(scene, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = run(arguments[0], scene, *arguments[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_opened_stage_is_never_overwritten(scene, tmp_path):
    stage = tmp_path / "level.usda"
    assert run("bounds", scene, "-q", "-o", stage).returncode == 0
    before = stage.read_bytes()
    done = run("bounds", stage, "-o", stage)
    assert done.returncode == 2 and "is the scene file itself" in done.stderr
    assert stage.read_bytes() == before
