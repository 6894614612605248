"""Spheres of cuRobo, read by PyYAML, in the frames of the bodies that MuJoCo has for the same scene."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.robotics.test_mujoco_models import Model

yaml = pytest.importorskip("yaml")
pytest.importorskip("mujoco")


@pytest.mark.parametrize("shape", ["sphere", "spheres"])
def test_spheres_enclose_vertices(robots, shape):
    spheres = yaml.safe_load((robots.folder / f"{shape}.yml").read_text("utf-8"))["collision_spheres"]
    model, links = Model(robots.folder / f"{shape}.xml"), robots.links()
    assert list(spheres) == list(links)
    for name, entry in links.items():
        body, points = model.body(name), robots.vertices_of(entry)
        local = (points - model.data.xpos[body]) @ model.data.xmat[body].reshape(3, 3)
        outside = np.min(
            [np.linalg.norm(local - each["center"], axis=1) - each["radius"] for each in spheres[name]],
            axis=0,
        )
        assert outside.max() <= 16 * np.finfo(float).eps * np.abs(points).max(), (name, outside.max())
        assert all(type(each["radius"]) is float and each["radius"] > 0 for each in spheres[name])
        assert (shape == "spheres") or len(spheres[name]) == 1


def test_numbers_and_words_of_yaml_keep_their_types(tmp_path):
    from tests.formats.export.robotics.robot_files import box_part, document_of_parts, text_of

    parts = [box_part(name, None, (1e-9, 1e-5, 123456789012.0)) for name in ("no", "Yes", "null", "y", "e1")]
    found = yaml.safe_load(text_of(document_of_parts(parts, "sphere", decimals=9), "curobo"))
    assert sorted(found["collision_spheres"]) == ["Yes", "e1", "no", "null", "y"]
    for spheres in found["collision_spheres"].values():
        assert [type(number) for number in (*spheres[0]["center"], spheres[0]["radius"])] == [float] * 4
