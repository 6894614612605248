"""Remove from a .blend file the bytes that differ between two runs.

Blender saves the memory addresses of its data, and seeds that it takes from the clock. A file without them
has the same bytes after each run, so that everybody can check its SHA-256 sum.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_HEADER = 12
_BLOCK = struct.Struct("<4sIQII")
_POINTER = 8
# Fields that Blender fills with numbers from the clock: a color, and the identity of a node in its tree.
_SEEDS = {("Mesh", "face_sets_color_seed"), ("bNode", "identifier")}
# The numbers of elements of a mesh, in the order of their lists of attributes.
_COUNTS = ("totvert", "totedge", "totface", "totpoly", "totloop")
# References to nodes by their identity. The example scene has none.
_BOOLEAN = 50  # CD_PROP_BOOL
_NODE_REFERENCES = "bNestedNodeRef"
_SCREEN_EDGE = "ScrEdge"


class Block(NamedTuple):
    """A block of the file: an array of structs."""

    code: bytes
    start: int
    """Offset of the content in the file."""
    size: int
    address: int
    struct_index: int


@dataclass(frozen=True)
class Layout:
    """The structs of the Blender that has saved the file.

    Parameters
    ----------
    structs : sequence of (str, list of (str, str))
        Name of each struct, with the types and names of its fields.
    sizes : mapping of str to int
        Size of each type in bytes.
    """

    structs: list[tuple[str, list[tuple[str, str]]]]
    sizes: Mapping[str, int]

    def fields(self, name: str) -> Iterator[tuple[str, str, int, int]]:
        """Yield the struct, name, offset and size of each field, those of inner structs included."""
        inner = dict(self.structs)
        offset = 0
        for kind, declared in inner[name]:
            count = 1
            for length in re.findall(r"\[(\d+)\]", declared):
                count *= int(length)
            is_pointer = declared.startswith(("*", "(*"))
            size = _POINTER if is_pointer else self.sizes[kind]
            for i in range(count):
                if kind in inner and not is_pointer:
                    for owner, part, start, length in self.fields(kind):
                        yield owner, part, offset + i * size + start, length
                else:
                    yield name, declared, offset + i * size, size
            offset += count * size


def without_run_dependent_bytes(content: bytes) -> bytes:
    """Return the content of a .blend file with addresses replaced by numbers in the order of the file.

    Parameters
    ----------
    content : bytes
        An uncompressed file of Blender 4.2 to 4.5, little-endian with 64-bit addresses.

    Returns
    -------
    bytes
        The same file for Blender, of the same size.

    Raises
    ------
    ValueError
        If the content is not such a file, or refers to nodes by their identity.
    """
    if not re.match(rb"BLENDER-v4\d\d", content):
        raise ValueError("the example scene must be an uncompressed .blend file of Blender 4.2 to 4.5")
    blocks = list(_blocks(content))
    layout = _layout(next(content[b.start : b.start + b.size] for b in blocks if b.code == b"DNA1"))
    result = bytearray(content)
    numbers = {0: 0}
    for block in blocks:
        # Blender requires distinct addresses. They must not look like small numbers.
        numbers.setdefault(block.address, (1 << 32) + _POINTER * 2 * len(numbers))
        struct.pack_into("<Q", result, block.start - _BLOCK.size + 8, numbers[block.address])
    known = {name: list(layout.fields(name)) for name, _ in layout.structs}
    lengths = _lengths_of_bytes(content, blocks, layout)
    seeds = 0
    for block in blocks:
        name = layout.structs[block.struct_index][0]
        if name == _NODE_REFERENCES:
            raise ValueError("the example scene refers to a node by its identity, which depends on the clock")
        if block.struct_index == 0:
            data = content[block.start : block.start + block.size]
            length = lengths.get(block.address, block.size)
            plain = _plain_data(data, numbers)[:length].ljust(block.size, b"\0")
            result[block.start : block.start + block.size] = plain
            continue
        size = layout.sizes[name]
        for first in range(block.start, block.start + block.size - size + 1, size):
            for owner, field, offset, length in known[name]:
                if field.startswith(("*", "(*")):
                    (value,) = struct.unpack_from("<Q", content, first + offset)
                    # An address without a block is one that Blender does not read either.
                    struct.pack_into("<Q", result, first + offset, numbers.get(value, 0))
                elif (owner, field) in _SEEDS:
                    seeds += 1
                    result[first + offset : first + offset + length] = seeds.to_bytes(length, "little")
            if name == _SCREEN_EDGE:
                _sort_ends(result, first, known[name])
    return bytes(result)


def _sort_ends(result: bytearray, edge: int, fields: Sequence[tuple[str, str, int, int]]) -> None:
    """Sort the two ends of an edge of a screen. Blender does that too, but by their addresses."""
    places = [edge + offset for _, name, offset, _ in fields if name in ("*v1", "*v2")]
    ends = sorted(struct.unpack_from("<Q", result, place)[0] for place in places)
    for place, end in zip(places, ends, strict=True):
        struct.pack_into("<Q", result, place, end)


def _lengths_of_bytes(content: bytes, blocks: Sequence[Block], layout: Layout) -> dict[int, int]:
    """Return the number of elements of each Boolean attribute of meshes, by the address of its values."""
    lists = {block.address: block for block in blocks}
    lengths = {}
    fields = list(layout.fields("Mesh"))
    places = {name: offset for _, name, offset, _ in fields}
    layers = [offset for owner, name, offset, _ in fields if (owner, name) == ("CustomData", "*layers")]
    layer = {name: offset for _, name, offset, _ in layout.fields("CustomDataLayer")}
    size = layout.sizes["CustomDataLayer"]
    for mesh in (block for block in blocks if layout.structs[block.struct_index][0] == "Mesh"):
        for name, offset in zip(_COUNTS, layers, strict=True):
            (count,) = struct.unpack_from("<i", content, mesh.start + places[name])
            (address,) = struct.unpack_from("<Q", content, mesh.start + offset)
            if address in lists:
                found = lists[address]
                for start in range(found.start, found.start + found.size - size + 1, size):
                    (kind,) = struct.unpack_from("<i", content, start + layer["type"])
                    (data,) = struct.unpack_from("<Q", content, start + layer["*data"])
                    if kind == _BOOLEAN:
                        lengths[data] = count
    return lengths


def _plain_data(data: bytes, numbers: Mapping[int, int]) -> bytes:
    """Replace the addresses in a block without a struct: addresses, a text, or plain numbers."""
    count = len(data) // _POINTER
    values = struct.unpack_from(f"<{count}Q", data)
    replaced = [numbers.get(value, value) for value in values]
    if list(values) == replaced and len(data) - 4 <= (end := data.find(0)):
        # A text. Blender saves a multiple of four bytes, and does not set those after the end.
        return data[:end].ljust(len(data), b"\0")
    return struct.pack(f"<{count}Q", *replaced) + data[count * _POINTER :]


def _blocks(content: bytes) -> Iterator[Block]:
    position = _HEADER
    while position < len(content):
        code, size, address, struct_index, _count = _BLOCK.unpack_from(content, position)
        yield Block(code, position + _BLOCK.size, size, address, struct_index)
        position += _BLOCK.size + size


def _layout(dna: bytes) -> Layout:
    """Read the description of structs at the end of a file."""

    def section(position: int, code: bytes) -> int:
        position += -position % 4
        assert dna[position : position + 4] == code, f"the file has no {code.decode()}"
        return position + 4

    def texts(position: int) -> tuple[list[str], int]:
        (count,) = struct.unpack_from("<I", dna, position)
        found, position = [], position + 4
        for _ in range(count):
            end = dna.index(0, position)
            found.append(dna[position:end].decode())
            position = end + 1
        return found, position

    names, position = texts(section(4, b"NAME"))
    types, position = texts(section(position, b"TYPE"))
    position = section(position, b"TLEN")
    sizes = struct.unpack_from(f"<{len(types)}H", dna, position)
    position = section(position + 2 * len(types), b"STRC")
    (count,) = struct.unpack_from("<I", dna, position)
    position, structs = position + 4, []
    for _ in range(count):
        kind, fields = struct.unpack_from("<HH", dna, position)
        pairs = struct.unpack_from(f"<{2 * fields}H", dna, position + 4)
        structs.append(
            (types[kind], [(types[pairs[i]], names[pairs[i + 1]]) for i in range(0, 2 * fields, 2)])
        )
        position += 4 + 4 * fields
    return Layout(structs, dict(zip(types, sizes, strict=True)))
