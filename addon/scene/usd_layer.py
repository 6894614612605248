"""Time range and rate of a USD layer, which Blender's importer reads in whole frames or ignores.

Blender as a Python module has USD's own module in some versions only. The time is in the metadata of the root
layer, so that is read alone: a text, or a crate as OpenUSD's crateFile.h describes it.
"""

from __future__ import annotations

import math
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")

_RATE, _FRAME_RATE, _START, _END = "timeCodesPerSecond", "framesPerSecond", "startTimeCode", "endTimeCode"
_DEFAULT_RATE = 24.0
"""Rate of a layer that has none."""

_TEXT_VALUE = re.compile(rf"^\s*({_RATE}|{_FRAME_RATE}|{_START}|{_END})\s*=\s*(\S+)\s*$", re.MULTILINE)
_FIRST_PRIM = re.compile(r"^(?:def|over|class)\b", re.MULTILINE)

_LONGEST_METADATA = 1 << 20
"""Bytes at the start of a text that are searched, because the layer can be large."""

_CRATE = b"PXR-USDC"
_INLINED, _PAYLOAD = 1 << 62, (1 << 48) - 1


_Content: TypeAlias = bytes | mmap.mmap


class LayerTime(NamedTuple):
    """Time of a layer.

    rate : Time codes per second. A time code is a frame of Blender.
    range : (float, float) or None. First and last time code, if the layer names both.
    """

    rate: float
    range: tuple[float, float] | None


def read_layer_time(path: Path) -> LayerTime:
    """Read the time of the root layer of a .usd, .usda, .usdc or .usdz file.

    Raises ValueError for a file that is damaged, is a crate older than version 0.4 or has no valid time, and
    OSError for one that cannot be opened.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as package:
                values = _values(package.read(package.namelist()[0]))
        else:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                values = _values(content)
    except (ValueError, LookupError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError("the metadata cannot be read") from error
    rate = values.get(_RATE, values.get(_FRAME_RATE, _DEFAULT_RATE))
    ends = values.get(_START), values.get(_END)
    if not 0 < rate < math.inf:
        raise ValueError(f"the metadata has a rate of {rate:g}")
    if not all(end is None or math.isfinite(end) for end in ends):
        raise ValueError("the metadata has an infinite range")
    return LayerTime(rate, None if ends[0] is None or ends[1] is None else (ends[0], ends[1]))


def _values(content: _Content) -> Mapping[str, float]:
    """Values of the metadata of a layer; in one written as text, they end at its first prim."""
    if content[: len(_CRATE)] == _CRATE:
        return _crate_values(content)
    text = content[:_LONGEST_METADATA].decode("utf-8", "replace")
    first = _FIRST_PRIM.search(text)
    return {
        name: float(value) for name, value in _TEXT_VALUE.findall(text[: first.start() if first else None])
    }


def _crate_values(content: _Content) -> Mapping[str, float]:
    """Values of the metadata of a layer written as a crate."""
    (at,) = struct.unpack_from("<q", content, 16)
    (count,) = struct.unpack_from("<Q", content, at)
    table = struct.iter_unpack("<16sqq", content[at + 8 : at + 8 + 32 * count])
    sections = {name.rstrip(b"\0"): start for name, start, _ in table}
    at = sections[b"TOKENS"]
    tokens_size, packed_size = struct.unpack_from("<QQ", content, at + 8)
    tokens = _unpacked(content[at + 24 : at + 24 + packed_size], tokens_size).split(b"\0")
    at = sections[b"FIELDS"]
    count, packed_size = struct.unpack_from("<QQ", content, at)
    if not count:
        return {}
    at += 16
    names = _unpacked_integers(content[at : at + packed_size], count)
    at += packed_size
    (packed_size,) = struct.unpack_from("<Q", content, at)
    values = np.frombuffer(_unpacked(content[at + 8 : at + 8 + packed_size], 8 * count), "<u8").tolist()
    wanted = {name.encode(): name for name in (_RATE, _FRAME_RATE, _START, _END)}
    found = {}
    for token, value in zip(names.tolist(), values, strict=True):
        if (name := wanted.get(tokens[token])) is not None:
            if value & _INLINED:  # it is exact as a float
                (found[name],) = struct.unpack("<f", struct.pack("<I", value & 0xFFFFFFFF))
            else:
                (found[name],) = struct.unpack_from("<d", content, value & _PAYLOAD)
    return found


def _unpacked_integers(packed: bytes, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Unpack integers: codes of two bits choose the common difference, or one of 1, 2 or 4 bytes."""
    sizes = (0, 1, 2, 4)
    code_bytes = (2 * count + 7) // 8
    data = _unpacked(packed, 4 + code_bytes + 4 * count)
    (common,) = struct.unpack_from("<i", data)
    codes = np.frombuffer(data, np.uint8, code_bytes, 4)
    code_of = ((codes[:, None] >> np.array([0, 2, 4, 6])) & 3).ravel()[:count].tolist()
    at, differences = 4 + code_bytes, []
    for code in code_of:
        size = sizes[code]
        differences.append(int.from_bytes(data[at : at + size], "little", signed=True) if size else common)
        at += size
    return np.cumsum(differences, dtype=np.int64)


def _unpacked(packed: bytes, most: int) -> bytes:
    """Unpack one or several blocks of LZ4, of at most this many bytes."""
    if packed[0] == 0:
        return _unpacked_block(packed[1:], most)
    at, blocks = 1, b""
    for _ in range(packed[0]):  # more than one for very many numbers
        (size,) = struct.unpack_from("<i", packed, at)
        blocks += _unpacked_block(packed[at + 4 : at + 4 + size], most - len(blocks))
        at += 4 + size
    return blocks


def _unpacked_block(packed: bytes, most: int) -> bytes:
    """Unpack a block of LZ4: literal bytes, each run followed by a copy of bytes before.

    Raises ValueError for a damaged block.
    """
    out, at = bytearray(), 0
    while at < len(packed):
        literals, copied = packed[at] >> 4, packed[at] & 15
        literals, at = _length(packed, at + 1, literals)
        out += packed[at : at + literals]
        at += literals
        if at >= len(packed):
            break
        distance = int.from_bytes(packed[at : at + 2], "little")
        copied, at = _length(packed, at + 2, copied)
        copied += 4
        if not 0 < distance <= len(out) or len(out) + copied > most:
            raise ValueError("damaged block")
        start = len(out) - distance
        repeated = bytes(out[start : start + copied])
        out += (repeated * (copied // len(repeated) + 1))[:copied]
    return bytes(out)


def _length(packed: bytes, at: int, length: int) -> tuple[int, int]:
    """Length of a run, of which 15 is continued in the bytes after it, and the place after these."""
    if length < 15:
        return length, at
    while True:
        length += packed[at]
        at += 1
        if packed[at - 1] < 255:
            return length, at
