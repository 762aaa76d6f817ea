#!/usr/bin/env python3
"""Paints the pictures and computes the sounds of this example: python3 make_assets.py

Needs nothing but Python, and writes the same bytes every time. What it writes is under the licence
of the project, like the script itself. A picture is a function from a place to a colour, asked nine
times for each texel; places are texels from the middle, y up.
"""

import math
import pathlib
import random
import struct
import wave
import zlib

HERE = pathlib.Path(__file__).parent
CLEAR = (0.0, 0.0, 0.0, 0.0)
DARK = (0.05, 0.05, 0.09)


def write_png(name, width, height, rows):
    """`rows`: from the top, of (red, green, blue, alpha) bytes."""

    def chunk(kind, data):
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    raw = b"".join(b"\0" + bytes(row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    (HERE / "textures" / name).write_bytes(b"\x89PNG\r\n\x1a\n" + data)


def paint(width, height, color_at, samples=3):
    """The texels of a picture, row by row from the top."""
    rows = []
    steps = [(i + 0.5) / samples for i in range(samples)]
    for row in range(height):
        line = []
        for column in range(width):
            red = green = blue = alpha = 0.0
            for dy in steps:
                for dx in steps:
                    r, g, b, a = color_at(column + dx - width / 2, height / 2 - row - dy)
                    red, green, blue, alpha = red + r * a, green + g * a, blue + b * a, alpha + a
            if alpha > 0:
                line += [round(255 * min(1, part / alpha)) for part in (red, green, blue)]
                line.append(round(255 * alpha / samples**2))
            else:
                line += [0, 0, 0, 0]
        rows.append(line)
    return rows


def mix(a, b, t):
    t = max(0.0, min(1.0, t))
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def solid(color, alpha=1.0):
    return (*color[:3], alpha)


def in_polygon(x, y, points):
    inside = False
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            inside = not inside
    return inside


def to_line(x, y, ax, ay, bx, by):
    """How far a place is from a line."""
    t = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
    t = max(0.0, min(1.0, t))
    return math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay))


# Beetles: a sheet of 16 headings across; down, for each kind, the two steps of its walk -----------

SIDE, HEADINGS = 32, 16
SHELLS = [(1.0, 0.78, 0.30), (1.0, 0.42, 0.34), (0.74, 0.42, 1.0)]


def beetle(shell, heading, step):
    forward = (math.cos(heading), math.sin(heading))

    def color_at(x, y):
        u, v = x * forward[0] + y * forward[1], y * forward[0] - x * forward[1]
        left = abs(v)
        # The head, its eyes, and the glowing tail stand out of the shell.
        for eye in (-2.0, 2.0):
            if math.hypot(u - 9.2, v - eye) < 1.15:
                return solid((1, 1, 0.92))
        head = math.hypot(u - 7.2, v)
        body = math.hypot((u + 1.5) / 8.6, v / 6.6)
        if body < 1:
            height = math.sqrt(1 - body * body)
            light = 0.55 * height + 0.05 * (-x + y)
            color = mix(mix(shell, DARK, 0.62), shell, 0.25 + light)
            if left < 0.55 and u < 4:
                color = mix(color, DARK, 0.65)
            if math.hypot(u + 0.5, left - 3.2) < 1.3:
                color = mix(color, (1, 1, 1), 0.55)
            if u < -6.2:
                color = mix(shell, (1, 1, 0.9), 0.75)
            if math.hypot(x + 2.2, y - 3.0) < 1.5:
                color = mix(color, (1, 1, 1), 0.45)
            return solid(color)
        if head < 3.7:
            return solid(mix(DARK, shell, 0.22))
        if math.hypot((u + 1.5) / 9.6, v / 7.6) < 1 or head < 4.5:
            return solid(DARK, 0.9)
        for leg in (-1, 0, 1):
            swing = 1.6 if (leg + step) % 2 else -1.6
            for side in (-1, 1):
                ends = (leg * 4.2, side * 5, leg * 5.4 + swing * side, side * 10.6)
                if to_line(u, v, *ends) < 0.85:
                    return solid(DARK, 0.9)
        return CLEAR

    return color_at


def write_beetles():
    rows = []
    for shell in SHELLS:
        for step in (0, 1):
            turns = [2 * math.pi * heading / HEADINGS for heading in range(HEADINGS)]
            frames = [paint(SIDE, SIDE, beetle(shell, turn, step)) for turn in turns]
            rows += [sum((frame[row] for frame in frames), []) for row in range(SIDE)]
    write_png("beetles.png", SIDE * HEADINGS, len(rows), rows)


# What grows and lies about ------------------------------------------------------------------------


def write(name, width, height, color_at, samples=3):
    write_png(name + ".png", width, height, paint(width, height, color_at, samples))


def glow(x, y):
    far = math.hypot(x, y) / 32
    return (1, 1, 1, max(0.0, 1 - far) ** 2)


def lattice(seed):
    """Soft noise from 0 to 1: random numbers at whole places, and smooth between them."""
    table = [random.Random(seed * 7919 + i).random() for i in range(1024)]

    def level(x, y):
        column, row = math.floor(x), math.floor(y)
        fx, fy = x - column, y - row
        fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
        at = lambda i, k: table[(column + i + 57 * (row + k)) % 1024]
        low, high = at(0, 0) + (at(1, 0) - at(0, 0)) * fx, at(0, 1) + (at(1, 1) - at(0, 1)) * fx
        return low + (high - low) * fy

    return level


def meadow():
    """The ground under everything, small and soft: it is shown eight times as large."""
    noise = [lattice(seed) for seed in (1, 2, 3)]

    def color_at(x, y):
        light = sum(level((x + 99) / size, (y + 99) / size) * part
                    for level, size, part in zip(noise, (34, 15, 7), (0.55, 0.3, 0.15)))
        color = mix((0.055, 0.14, 0.18), (0.15, 0.37, 0.29), (light - 0.25) * 1.9)
        edge = max(abs(x) / 80, abs(y) / 40)
        return solid(mix(color, DARK, 0.75 * max(0, edge - 0.72) / 0.28))

    return color_at


def stone(seed):
    numbers = random.Random(seed)
    waves = [(k, numbers.uniform(0.02, 0.13) / k, numbers.uniform(0, 7)) for k in range(2, 7)]
    tilt = numbers.uniform(-0.5, 0.5)

    def color_at(x, y):
        angle = math.atan2(y, x)
        edge = 29 * (1 + sum(size * math.sin(k * angle + phase) for k, size, phase in waves))
        far = math.hypot(x, y * 1.12) / edge
        if far >= 1:
            return CLEAR
        if far > 0.93:
            return solid((0.05, 0.08, 0.12), 0.85)
        # Light from the left above, in five steps: cut rather than polished.
        height = math.sqrt(1 - far * far)
        bend = 0.16 * math.sin(3 * angle + tilt * 9) + 0.1 * math.sin(x * 0.3 + tilt * 20)
        light = round(5 * (0.42 * height + (-x + y * 1.2) / 95 + bend + 0.12)) / 5
        color = mix((0.10, 0.15, 0.21), (0.46, 0.55, 0.60), light)
        if light > 0.5 and math.sin(x * 0.55 + seed) + math.sin(y * 0.6 - x * 0.2 + seed) > 0.75:
            color = mix(color, (0.28, 0.52, 0.42), 0.6)
        return solid(color)

    return color_at


def bush(seed):
    numbers = random.Random(seed)
    leaves = []
    for _ in range(70):
        far, angle = 24 * math.sqrt(numbers.random()), numbers.uniform(0, 2 * math.pi)
        place = (far * math.cos(angle), far * math.sin(angle))
        leaves.append((*place, numbers.uniform(4.5, 7.5), numbers.uniform(-0.08, 0.08)))
    # Those in front, lower down and further out, are drawn first and so asked last.
    leaves.sort(key=lambda leaf: -(leaf[1] - math.hypot(leaf[0], leaf[1]) * 0.6))

    def color_at(x, y):
        for lx, ly, size, shade in leaves:
            far = math.hypot(x - lx, y - ly) / size
            if far < 1:
                light = 0.42 + (ly - lx) / 70 + 0.35 * (y - ly - x + lx) / size / 2 + shade
                color = mix((0.03, 0.12, 0.13), (0.20, 0.50, 0.38), light)
                return solid(mix(color, DARK, 0.5) if far > 0.86 else color)
        return CLEAR

    return color_at


def tuft(x, y):
    for foot, lean, length in ((-4, -0.55, 13), (-1, -0.15, 19), (2, 0.2, 16), (5, 0.6, 11)):
        up = (y + 11) / length
        if 0 <= up < 1 and abs(x - foot - lean * up * up * 9) < 1.5 * (1 - up) + 0.25:
            return solid(mix((0.08, 0.26, 0.24), (0.34, 0.62, 0.46), up))
    return CLEAR


def flower(x, y):
    for turn in range(5):
        angle = turn * 2 * math.pi / 5 + 0.3
        px, py = 5.6 * math.cos(angle), 5.6 * math.sin(angle)
        if math.hypot(x - px, y - py) < 3.9:
            return solid(mix((1, 1, 1), (0.75, 0.85, 1), math.hypot(x, y) / 10))
    return solid((1, 0.88, 0.5)) if math.hypot(x, y) < 3 else CLEAR


def burrow(x, y):
    far = math.hypot(x / 30, y / 24)
    ripple = 0.05 * math.sin(7 * math.atan2(y, x)) + 0.03 * math.sin(13 * math.atan2(y, x))
    if far < 0.68 + ripple:
        return solid(mix((0.01, 0.01, 0.02), (0.10, 0.07, 0.09), (far - 0.2) / 0.5 - y / 60))
    if far < 1 + ripple:
        return solid(mix((0.30, 0.21, 0.19), (0.13, 0.12, 0.15), (far - 0.68) * 3 - y / 70))
    return CLEAR


# What is built: facets, each a polygon of one colour; the first that holds a place is seen --------


def facets(parts, rim=1.3):
    def color_at(x, y):
        for color, points in parts:
            if in_polygon(x, y, points):
                return solid(color)
        for _, points in parts:
            for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
                if to_line(x, y, ax, ay, bx, by) < rim:
                    return solid(DARK, 0.9)
        return CLEAR

    return color_at


def crystal(x, foot, top, wide, light):
    """Three facets of a pointed stone."""
    middle, waist = foot + (top - foot) * 0.62, x + wide * 0.15
    bright, dull = mix(light, (1, 1, 1), 0.6), mix(light, DARK, 0.45)
    return [
        (bright, [(x - wide, middle), (x, top), (waist, middle - 2), (x - wide * 0.2, foot)]),
        (light, [(x, top), (x + wide, middle), (waist, middle - 2)]),
        (dull, [(waist, middle - 2), (x + wide, middle), (x + wide * 0.4, foot),
                (x - wide * 0.2, foot)]),
        (mix(light, DARK, 0.2), [(x - wide, middle), (x - wide * 0.2, foot),
                                 (x - wide * 0.5, foot)]),
    ]


def pedestal(low, wide, tall):
    grey, top = (0.34, 0.40, 0.47), low + tall
    ring = [(wide * math.cos(a), top + wide * 0.32 * math.sin(a)) for a in
            [2 * math.pi * k / 14 for k in range(14)]]
    foot = [(wide * 1.12 * math.cos(a), low + wide * 0.34 * math.sin(a)) for a in
            [math.pi + math.pi * k / 8 for k in range(9)]]
    left, right = [p for p in foot if p[0] <= 1], [p for p in foot if p[0] >= -1]
    return [
        (mix(grey, (1, 1, 1), 0.25), ring),
        (grey, left + [(0, top), (-wide, top)]),
        (mix(grey, DARK, 0.5), right + [(wide, top), (0, top)]),
    ]


def round_stone(x, y, size, light):
    """A ball of facets."""
    turns = [2 * math.pi * k / 8 + 0.2 for k in range(9)]
    edge = [(x + size * math.cos(a), y + size * math.sin(a)) for a in turns]
    heart = (x - size * 0.25, y + size * 0.3)
    dull, bright = mix(light, DARK, 0.45), mix(light, (1, 1, 1), 0.55)
    return [(mix(dull, bright, 0.5 + 0.5 * math.cos(a - 2.0)), [edge[k], edge[k + 1], heart])
            for k, a in enumerate(turns[:-1])]


CYAN, ICE, LIME = (0.25, 0.85, 0.95), (0.55, 0.72, 1.0), (0.62, 0.92, 0.42)


def write_buildings():
    base = pedestal(-28, 15, 12)
    write("spark", 48, 72, facets(crystal(0, -16, 32, 10, CYAN) + base))
    ice = crystal(0, -17, 26, 7, ICE) + crystal(-9, -16, 10, 6, ICE) + crystal(9, -16, 14, 6, ICE)
    write("frost", 48, 72, facets(ice + base))
    cup = [(mix(LIME, DARK, 0.6), [(-8, -16), (8, -16), (12, -4), (-12, -4)])]
    write("star", 48, 72, facets(round_stone(0, 6, 14, LIME) + cup + base))
    gold, iron = (1.0, 0.80, 0.42), (0.24, 0.22, 0.28)
    lamp = [
        (mix(iron, (1, 1, 1), 0.25), [(-5, 56), (5, 56), (22, 38), (-22, 38)]),
        ((1, 0.97, 0.84), [(-8, 8), (-4, 8), (-4, 36), (-11, 36)]),
        (mix(gold, (1, 1, 1), 0.45), [(-17, 36), (-13, 6), (13, 6), (17, 36)]),
        (iron, [(-16, 6), (16, 6), (10, -2), (-10, -2)]),
        (mix(iron, (1, 1, 1), 0.12), [(-4, -2), (0, -2), (0, -40), (-4, -40)]),
        (mix(iron, DARK, 0.3), [(0, -2), (4, -2), (4, -40), (0, -40)]),
    ]
    write("lamp", 72, 124, facets(lamp + pedestal(-54, 22, 15)))


# Sounds -------------------------------------------------------------------------------------------

RATE = 22050


def write_sound(name, seconds, level_at):
    count = int(seconds * RATE)
    levels = [level_at(i / RATE) for i in range(count)]
    loudest = max(abs(level) for level in levels)
    # No click at the end.
    fade = [min(1.0, (count - i) / (0.01 * RATE)) for i in range(count)]
    frames = [round(28000 * level / loudest * less) for level, less in zip(levels, fade)]
    with wave.open(str(HERE / "sounds" / (name + ".wav")), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack(f"<{count}h", *frames))


def sweep(t, start, end, seconds):
    """A tone whose pitch falls or rises."""
    ratio = end / start
    phase = start * seconds / math.log(ratio) * (ratio ** (t / seconds) - 1)
    return math.sin(2 * math.pi * phase)


def bell(t, pitch, decay):
    parts = ((1, 1), (2.0, 0.5), (2.76, 0.35), (5.4, 0.15))
    return sum(
        a * math.sin(2 * math.pi * pitch * k * t) * math.exp(-t * decay * k) for k, a in parts)


def noise(seed, softness):
    numbers, last = random.Random(seed), [0.0]

    def level():
        last[0] += (numbers.uniform(-1, 1) - last[0]) * softness
        return last[0]

    return level


def write_sounds():
    rumble, hiss, exp = noise(3, 0.12), noise(4, 0.6), math.exp
    write_sound("spark", 0.14, lambda t: (sweep(t, 2100, 600, 0.14) + 0.3 * hiss()) * exp(-t * 30))
    write_sound("frost", 0.7, lambda t: bell(t, 1320, 5) + 0.6 * bell(t, 1980, 6))
    write_sound("star", 0.3, lambda t: sweep(t, 180, 420, 0.3) * math.sin(math.pi * t / 0.3))
    write_sound("burst", 0.5, lambda t: (3 * rumble() + sweep(t, 150, 40, 0.5)) * exp(-t * 8))
    write_sound("pop", 0.09, lambda t: sweep(t, 500, 1100, 0.09) * exp(-t * 35))
    write_sound("build", 0.35, lambda t: bell(t, 660, 12) + 2 * rumble() * exp(-t * 60))
    write_sound("refuse", 0.2, lambda t: (
        sweep(t, 190, 120, 0.2) + 0.4 * sweep(t, 285, 180, 0.2)) * exp(-t * 9))
    write_sound("hurt", 0.35, lambda t: (sweep(t, 220, 70, 0.35) + rumble()) * exp(-t * 9))
    write_sound("wave", 1.4, lambda t: (
        bell(t, 165, 1.6) + 0.8 * bell(t, 247.5, 1.8)) * min(1, t * 30))


def main():
    for folder in ("textures", "sounds"):
        (HERE / folder).mkdir(exist_ok=True)
    write_beetles()
    write("glow", 64, 64, glow, 2)
    write("meadow", 160, 80, meadow(), 1)
    for seed in (1, 2, 3):
        write(f"stone_{seed}", 64, 64, stone(seed))
    for seed in (1, 2):
        write(f"bush_{seed}", 64, 64, bush(seed))
    write("tuft", 24, 24, tuft)
    write("flower", 20, 20, flower)
    write("burrow", 64, 56, burrow)
    write_buildings()
    write_sounds()


if __name__ == "__main__":
    main()
