"""The textures of the town: cobbles, slabs, plaster, bricks, roof tiles, puddles. Each is grey, so
that materials paint it; normals are computed from heights."""

import math
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from asset_writer import noise, png, save


def normal_png(size, height, strength):
    """A picture of the normals of a surface that repeats, from its heights."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)
        for x in range(size):
            dx = strength * (height[y][(x + 1) % size] - height[y][x - 1])
            dy = strength * (height[(y + 1) % size][x] - height[y - 1][x])
            long = math.sqrt(dx * dx + dy * dy + 1)
            rows += bytes(round(127.5 + 127.5 * n / long) for n in (-dx, dy, 1))
    out = b"\x89PNG\r\n\x1a\n"
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data
        out += struct.pack(">I", zlib.crc32(kind + data))
    return out


def smooth(low, high, value):
    t = max(0.0, min(1.0, (value - low) / (high - low)))
    return t * t * (3 - 2 * t)


def cobbles(size=256, count=11):
    """Round stones in rows, two metres of road: heights, and shades of grey."""
    rng = random.Random(5)
    stones = {}
    for j in range(count):
        for i in range(count):
            middle = (i + 0.5 * (j % 2) + rng.uniform(-0.13, 0.13), j + rng.uniform(-0.12, 0.12))
            stones[i, j] = (*middle, rng.uniform(-30, 26))
    grain = noise(6, size, 64, 64)

    def at(x, y):
        u, v = x * count / size, y * count / size
        near, second, shade = 9.0, 9.0, 0.0
        for j in range(math.floor(v) - 1, math.floor(v) + 3):
            for i in range(math.floor(u) - 2, math.floor(u) + 2):
                # An odd number of rows: the last one is shifted, and so is the first.
                cx, cy, tone = stones[i % count, j % count]
                cx += i - i % count
                cy += j - j % count
                far = ((cx + 0.5 - u) * 0.94) ** 2 + (cy + 0.5 - v) ** 2
                if far < near:
                    near, second, shade = far, near, tone
                elif far < second:
                    second = far
        edge = math.sqrt(second) - math.sqrt(near)
        height = smooth(0.0, 0.32, edge) * (1 - 0.5 * near)
        grey = 62 + height * (128 + shade) + 7 * grain(x, y)
        return height, grey

    return [[at(x, y) for x in range(size)] for y in range(size)]


def slabs(size=256, count=3):
    """Slabs of a pavement in shifted rows: two metres."""
    rng = random.Random(9)
    side = size / count
    tones = [[rng.uniform(-14, 14) for _ in range(count)] for _ in range(count)]
    clouds, grain = noise(10, size, 6, 6), noise(11, size, 80, 80)

    def at(x, y):
        row = int(y / side)
        across = (x + row * side / 3) / side
        edge = min(across % 1, 1 - across % 1, y / side % 1, 1 - y / side % 1)
        height = smooth(0.0, 0.035, edge)
        grey = 110 + height * (82 + tones[row % count][int(across) % count])
        return height, grey + 9 * clouds(x, y) + 5 * grain(x, y)

    return [[at(x, y) for x in range(size)] for y in range(size)]


def bricks(size=128, rows=12, columns=4):
    """A metre of bricks."""
    rng = random.Random(21)
    tones = [[rng.uniform(-30, 24) for _ in range(columns)] for _ in range(rows)]
    grain = noise(22, size, 40, 40)

    def at(x, y):
        v = y * rows / size
        row = int(v)
        u = x * columns / size + 0.5 * (row % 2)
        edge = min(u % 1, 1 - u % 1, (v % 1) / 3, (1 - v % 1) / 3)
        height = smooth(0.02, 0.07, edge)
        return height, 176 + height * (34 + tones[row][int(u) % columns]) + 8 * grain(x, y)

    return [[at(x, y) for x in range(size)] for y in range(size)]


def plaster(size=128):
    """Two metres of a rough wall, with the traces of rain."""
    clouds, grain, runs = noise(31, size, 5, 5), noise(32, size, 50, 50), noise(33, size, 24, 3)

    def at(x, y):
        rough = 0.5 + 0.25 * grain(x, y) + 0.25 * clouds(x, y)
        return rough, 222 + 12 * clouds(x, y) + 9 * runs(x, y) + 6 * grain(x, y)

    return [[at(x, y) for x in range(size)] for y in range(size)]


def roof_tiles(size=128, count=6):
    """Curved tiles in shifted rows: 1.5 metres of roof."""
    rng = random.Random(41)
    tones = [[rng.uniform(-26, 22) for _ in range(count)] for _ in range(count)]

    def at(x, y):
        v = (size - 1 - y) * count / size
        row = int(v)
        u = x * count / size + 0.5 * (row % 2)
        round_edge = (1 - 0.35 * math.sin(math.pi * (u % 1))) - (v % 1) * 0.6
        height = 0.45 * math.sin(math.pi * (u % 1)) + 0.55 * max(0.0, round_edge)
        gap = smooth(0.0, 0.09, min(u % 1, 1 - u % 1)) * smooth(0.0, 0.12, v % 1)
        return height, 90 + gap * (120 + tones[row % count][int(u) % count])

    return [[at(x, y) for x in range(size)] for y in range(size)]


def puddles(size=128):
    """Where water stays on a road: 16 metres of soft noise, 255 is deepest."""
    wide, fine, tiny = noise(51, size, 6, 6), noise(52, size, 13, 13), noise(53, size, 29, 29)
    return png(size, lambda x, y: 127 + 96 * wide(x, y) + 52 * fine(x, y) + 20 * tiny(x, y))


def write(folder):
    surfaces = {
        "cobbles": (cobbles(), 5.0), "slabs": (slabs(), 2.0), "bricks": (bricks(), 1.4),
        "plaster": (plaster(), 0.7), "roof_tiles": (roof_tiles(), 2.4),
    }
    for name, (texels, strength) in surfaces.items():
        size = len(texels)
        save(f"{folder}/{name}.png", png(size, lambda x, y, texels=texels: texels[y][x][1]))
        heights = [[height for height, _ in row] for row in texels]
        save(f"{folder}/{name}_normal.png", normal_png(size, heights, strength))
        for settings, lines in ((name, ""), (f"{name}_normal", "data = true\n")):
            with open(f"{folder}/{settings}.texture", "w", encoding="utf-8") as file:
                file.write('wrap = "repeat"\n' + lines)
    save(f"{folder}/puddles.png", puddles())
    save(f"{folder}/black.png", png(4, lambda x, y: 0))
    with open(f"{folder}/puddles.texture", "w", encoding="utf-8") as file:
        file.write('wrap = "repeat"\ndata = true\n')
