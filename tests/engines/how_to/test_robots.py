"""The steps of docs/how-to/robots.md and the script of docs/how-to/godot.md, as they are written."""

from __future__ import annotations

import pytest

from tests.documented import blocks, by_language
from tests.package.how_to.user import User

pytestmark = pytest.mark.long

PAGE = "docs/how-to/robots.md"
PLATE = (-2.8125, -1.375)
"""X and Y of the plate in the example scene."""


def printed(user: User, step: int) -> str:
    """Run the commands of a step, and then its program; return what the program prints."""
    user.run(by_language(PAGE, "")[step].text)
    user.write("program.py", by_language(PAGE, "python")[step].text)
    return user.run("python program.py")


def position(line: str) -> list[float]:
    """Return the numbers behind "Plate at"."""
    text = line.partition("Plate at")[2]
    return [float(word) for word in text.replace(",", " ").strip("()[] \n").split()]


def test_mujoco_has_the_plate_at_its_place(user: User):
    pytest.importorskip("mujoco")
    assert position(printed(user, 0))[:2] == pytest.approx(PLATE, abs=1e-3)


def test_line_of_the_reference_reads_the_model(user: User):
    pytest.importorskip("mujoco")
    user.run(blocks(PAGE)[0].text)
    (line,) = [block for block in blocks("docs/engines.md") if block.start.startswith("model = mujoco")]
    user.write("program.py", f"import mujoco\n{line.text}print(model.nbody)")
    # The world, and the 23 objects that have bounds in the example scene.
    assert user.run("python program.py") == "24\n"


def test_bullet_has_the_plate_at_its_place(user: User):
    pytest.importorskip("pybullet")
    lines = printed(user, 1).splitlines()
    assert position(next(line for line in lines if "Plate at" in line))[:2] == pytest.approx(PLATE, abs=1e-5)


def test_usd_has_a_collider_for_each_object(user: User):
    pytest.importorskip("pxr")
    # 23 objects have bounds in the example scene, including eight posts that are instances.
    assert printed(user, 2) == "23 colliders\n"


def test_spheres_are_written_and_contacts_are_read(user: User):
    spheres = next(block for block in blocks(PAGE) if "spheres.yml" in block.text)
    user.run(spheres.text)
    text = (user.folder / "spheres.yml").read_text("utf-8")
    assert text.count("radius:") > 23 and "Plate:" in text
    contacts = next(block for block in blocks(PAGE) if "contacts.json" in block.text)
    user.run(contacts.text)
    user.write("program.py", blocks(PAGE)[-1].text)
    pairs = [line.split(" ", 1)[1] for line in user.run("python program.py").splitlines()]
    assert "Plate Projectile" in pairs


@pytest.mark.parametrize("page", ["docs/how-to/godot.md", "docs/engines.md"])
def test_scripts_for_godot_are_gdscript(page):
    parser = pytest.importorskip("gdtoolkit.parser").parser
    scripts = [block.text for block in by_language(page, "gdscript")]
    assert len(scripts) == {"docs/how-to/godot.md": 2, "docs/engines.md": 1}[page]
    for script in scripts:
        is_file = "func" in script
        lines = "".join(f"\t{line}\n" for line in script.splitlines())
        assert parser.parse(script if is_file else f"func _ready() -> void:\n{lines}").children
