#!/usr/bin/env python3
"""Makes the textures and sounds of templates/3d from nothing but numbers.

    python3 templates/make_assets.py

Python's standard library is enough. The same numbers come out in every run.
"""

import math
import pathlib
import random
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent / "3d"


def write_png(path, size, color):
    """A square PNG of color(x, y): red, green and blue from 0 to 255. Row filters make it small."""
    rows, above = bytearray(), bytes(3 * size)
    for y in range(size):
        row = bytes(max(0, min(255, round(part))) for x in range(size) for part in color(x, y))
        rows.append(2)  # the row's filter: the difference to the row above
        rows.extend((part - other) & 255 for part, other in zip(row, above))
        above = row
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data
        out += struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(out)


def noise(seed, size, cells_x, cells_y):
    """Smooth noise that repeats: a function of x and y, from -1 to 1."""
    rng = random.Random(seed)
    grid = [[rng.uniform(-1, 1) for _ in range(cells_x)] for _ in range(cells_y)]

    def at(x, y):
        x, y = x * cells_x / size, y * cells_y / size
        left, low = int(x), int(y)
        s, t = x - left, y - low
        s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
        near, far = grid[low % cells_y], grid[(low + 1) % cells_y]
        a, b = left % cells_x, (left + 1) % cells_x
        return (near[a] * (1 - s) + near[b] * s) * (1 - t) + (far[a] * (1 - s) + far[b] * s) * t

    return at


def crate(size=256):
    """A side of a crate: planks in a frame with a brace and nails, and shade in the corners."""
    rng = random.Random(5)
    planks = [rng.uniform(-14, 14) for _ in range(5)]
    along, across = noise(1, size, 4, 48), noise(2, size, 48, 4)
    fine = noise(3, size, 128, 128)
    edge, plank = 34, (size - 68) / 5

    def nail(x, y):
        spots = [(17, 17), (size - 17, 17), (17, size - 17), (size - 17, size - 17)]
        return min(math.hypot(x - a, y - b) for a, b in spots)

    def color(x, y):
        border = min(x, y, size - 1 - x, size - 1 - y)
        in_rail = min(y, size - 1 - y) < edge
        in_post = min(x, size - 1 - x) < edge
        brace = abs((x - edge) - (y - edge)) / math.sqrt(2)
        if in_rail or in_post:
            light = 1.1 + 0.1 * (along(x, y) if in_rail else across(x, y))
            seam = abs(min(x, size - 1 - x) - edge) if in_rail else 9
            light -= 0.35 * max(0, 1 - seam / 2) if seam < 2 else 0
        elif brace < 15:
            light = 1.05 + 0.1 * across(x, (y - x) % size)
            light -= 0.3 if brace > 13 else 0
        else:
            column = (x - edge) / plank
            light = 0.86 + planks[int(column) % 5] / 200 + 0.12 * across(x, y)
            gap = min(column % 1, 1 - column % 1) * plank
            light -= 0.4 * max(0, 1 - gap / 2.5)
            inside = min(x - edge, y - edge, size - edge - x, size - edge - y, brace - 15)
            light *= 0.72 + 0.28 * min(1, max(0, inside) / 16)
        light += 0.03 * fine(x, y)
        light *= 0.8 + 0.2 * min(1, border / 5)
        head = nail(x, y)
        if head < 5:
            light = 0.55 + 0.25 * (head < 2.5)
        return 196 * light, 138 * light, 82 * light

    return size, color


def grass(size=256):
    """A lawn: eight metres of it. It repeats without seams, and has no shape to recognise."""
    clumps, tufts = noise(7, size, 13, 13), noise(8, size, 37, 37)
    leaves, blades = noise(9, size, 71, 59), noise(10, size, 128, 128)

    def color(x, y):
        # The second clumps are turned by 90 degrees, so that the grid of the noise does not show.
        clump = (clumps(x, y) + clumps(size - 1 - y, (x + size // 3) % size)) / 2
        light = 1 + 0.05 * clump + 0.06 * tufts(x, y) + 0.06 * leaves(x, y) + 0.08 * blades(x, y)
        return 96 * light + 5 * clump, 128 * light, 54 * light

    return size, color


def write_wav(path, samples, rate=22_050):
    data = b"".join(struct.pack("<h", round(max(-1, min(1, s)) * 32_767)) for s in samples)
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1,
                       rate, rate * 2, 2, 16, b"data", len(data))
    path.write_bytes(head + data)


def knock(seed, tones, seconds=0.28, rate=22_050):
    """Wood that is hit: a few tones that die away, and a short click."""
    rng = random.Random(seed)
    for i in range(int(seconds * rate)):
        t = i / rate
        body = sum(math.sin(2 * math.pi * tone * t) * math.exp(-t * (14 + tone / 40)) / (n + 1)
                   for n, tone in enumerate(tones))
        click = rng.uniform(-1, 1) * math.exp(-t * 260)
        yield 0.5 * body + 0.4 * click


def main():
    for name, picture in (("crate", crate()), ("grass", grass())):
        write_png(HERE / f"textures/{name}.png", *picture)
    write_wav(HERE / "sounds/knock_1.wav", knock(1, (176, 402, 731)))
    write_wav(HERE / "sounds/knock_2.wav", knock(2, (151, 366, 655)))


if __name__ == "__main__":
    main()
