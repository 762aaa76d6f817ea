#!/usr/bin/env python3
"""Makes pictures, sounds and the map of the template platformer: python3 make_platformer.py

Needs nothing but Python, and writes the same bytes every time. What it writes is under the licence
of the engine, like the script itself. A new game gets what it writes, and not the script.
"""

import math
import pathlib
import random
import struct
import wave
import zlib

HERE = pathlib.Path(__file__).parent / "platformer"

# The palette -------------------------------------------------------------------------------------

PALETTE = {
    "k": "2b2440",  # outlines
    "w": "fff7e8",
    "g": "4fae63", "G": "2f7d5b", "l": "8edb6e", "L": "c8f08a",  # grass
    "d": "a0674b", "D": "7b4a44", "e": "c48a5e",  # earth
    "t": "8d93ad", "T": "646a8c", "i": "b9c0d4",  # stone
    "o": "d08b4a", "O": "96583c", "p": "efb868",  # wood
    "y": "ffd75e", "Y": "e69a3a", "Z": "b5653a",  # gold
    "r": "e8505b", "R": "b0324f",  # cap, flag
    "s": "ffcfa3", "S": "e8a27c",  # skin
    "b": "4a7bd6", "B": "34539f",  # clothes
    "v": "a566d0", "V": "7442a8", "m": "d59cf0",  # slime
    "a": "5cc4e6", "A": "3f93c9", "c": "a8ecf5",  # water
    "n": "6b3f4a",  # shoes
}
COLORS = {key: tuple(int(text[i:i + 2], 16) for i in (0, 2, 4)) + (255,)
          for key, text in PALETTE.items()}
CLEAR = (0, 0, 0, 0)


def rgb(text, alpha=255):
    return tuple(int(text[i:i + 2], 16) for i in (0, 2, 4)) + (alpha,)


def mix(a, b, t):
    return tuple(round(x + (y - x) * t) for x, y in zip(a, b))


class Picture:
    """Texels from the top left."""

    def __init__(self, width, height, color=CLEAR):
        self.width, self.height = width, height
        self.rows = [[color] * width for _ in range(height)]

    def inside(self, x, y):
        return 0 <= x < self.width and 0 <= y < self.height

    def get(self, x, y):
        return self.rows[y][x] if self.inside(x, y) else CLEAR

    def put(self, x, y, color):
        x, y = round(x), round(y)
        if self.inside(x, y):
            self.rows[y][x] = COLORS[color] if isinstance(color, str) else color

    def rect(self, x, y, width, height, color):
        for row in range(height):
            for column in range(width):
                self.put(x + column, y + row, color)

    def art(self, x, y, lines):
        for row, line in enumerate(lines):
            for column, key in enumerate(line):
                if key not in ". ":
                    self.put(x + column, y + row, key)

    def ellipse(self, cx, cy, rx, ry, color):
        for y in range(math.floor(cy - ry), math.ceil(cy + ry) + 1):
            for x in range(math.floor(cx - rx), math.ceil(cx + rx) + 1):
                if ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1:
                    self.put(x, y, color)

    def line(self, ax, ay, bx, by, color, thick=1):
        steps = max(abs(bx - ax), abs(by - ay), 1) * 2
        for i in range(int(steps) + 1):
            t = i / steps
            x, y = ax + (bx - ax) * t, ay + (by - ay) * t
            for dx in range(thick):
                for dy in range(thick):
                    self.put(x + dx, y + dy, color)

    def outline(self, color="k"):
        """Draws a line around everything that is not clear."""
        before = [row[:] for row in self.rows]
        for y in range(self.height):
            for x in range(self.width):
                near = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
                full = any(self.inside(*at) and before[at[1]][at[0]][3] > 0 for at in near)
                if before[y][x][3] == 0 and full:
                    self.put(x, y, color)
        return self

    def paste(self, other, x, y):
        for row in range(other.height):
            for column in range(other.width):
                if other.rows[row][column][3] > 0:
                    self.put(x + column, y + row, other.rows[row][column])

    def save(self, name):
        def chunk(kind, data):
            end = struct.pack(">I", zlib.crc32(kind + data))
            return struct.pack(">I", len(data)) + kind + data + end

        raw = b"".join(b"\0" + bytes(part for color in row for part in color) for row in self.rows)
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 6, 0, 0, 0)
        data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
        path = HERE / "textures" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)


# The hero: 24 x 24, feet at the bottom ------------------------------------------------------------

HEAD = [
    "..rrrrrr....",
    ".rrrwrrrr...",
    ".rrwrrrrrr..",
    "RRRRRRRRRRRR",
    ".Sssssssss..",
    ".Ssssksssk..",
    ".Ssssksssk..",
    ".SSsssssss..",
    "..SSsssss...",
]
BODY = ["yyyyyy", "bbybbb", "bbbbbb", "BbbbbB"]


def hero(legs, arm, bob=0, lean=0):
    """`legs`: feet of the far and the near leg, from the hip; `arm`: the near hand."""
    picture = Picture(24, 24)
    top = 3 + bob
    hip_x, hip_y = 10, top + 13
    (far, near) = legs
    for (dx, dy), dark in ((far, True), (near, False)):
        picture.line(hip_x + (3 if dark else 0), hip_y - 1, hip_x + 1 + dx, hip_y + dy - 2,
                     "B" if dark else "b", 2)
        picture.rect(hip_x + dx, hip_y + dy - 1, 4, 2, "n")
    picture.art(8 + lean, top + 9, BODY)
    picture.art(6 + lean, top, HEAD)
    picture.line(9 + lean, top + 11, 9 + lean + arm[0], top + 11 + arm[1], "B", 2)
    picture.rect(9 + lean + arm[0], top + 11 + arm[1], 2, 2, "s")
    return picture.outline()


def heroes():
    stand = ((2, 7), (-1, 7))
    frames = [hero(stand, (1, 3)), hero(((2, 6), (-1, 6)), (1, 3), 1)]
    for i in range(6):
        swing = math.sin(i / 6 * math.tau)
        lift = math.cos(i / 6 * math.tau)
        far = (round(1 + 5 * swing), round(7 - max(0, lift) * 3))
        near = (round(1 - 5 * swing), round(7 - max(0, -lift) * 3))
        frames.append(hero((far, near), (round(4 * swing), 2), -(i % 3 == 1), 1))
    frames.append(hero(((4, 5), (-2, 7)), (4, -4), -1))
    frames.append(hero(((4, 6), (-3, 5)), (-4, -2)))
    frames.append(hero(((5, 4), (3, 6)), (-4, -4), 0, -1))
    sheet = Picture(24 * len(frames), 24)
    for i, frame in enumerate(frames):
        sheet.paste(frame, 24 * i, 0)
    sheet.save("hero.png")


# The slime: 24 x 16 -------------------------------------------------------------------------------


def slime(width, height, look=1):
    picture = Picture(24, 16)
    for y in range(height):
        t = 1 - (y + 0.5) / height
        half = width / 2 * (1 - t ** 2.6) ** 0.5
        row = 15 - height + y
        for x in range(24):
            if abs(x + 0.5 - 12) <= half:
                shade = "v"
                if y > height * 0.72 or x + 0.5 - 12 < -half + 2:
                    shade = "V"
                if y < height * 0.34 and -half * 0.2 < x - 12 < half * 0.55:
                    shade = "m"
                picture.put(x, row, shade)
    if height > 5:
        eye = 15 - round(height * 0.62)
        for x in (10 + look, 15 + look):
            picture.rect(x, eye, 2, 3, "w")
            picture.rect(x + 1, eye + 1, 1, 2, "k")
    return picture.outline()


def slimes():
    frames = [slime(15, 10), slime(17, 9), slime(19, 7), slime(17, 9), slime(20, 4)]
    sheet = Picture(24 * len(frames), 16)
    for i, frame in enumerate(frames):
        sheet.paste(frame, 24 * i, 0)
    sheet.save("slime.png")


# Coins, sparks, the flag --------------------------------------------------------------------------


def coins():
    sheet = Picture(16 * 6, 16)
    for i, half in enumerate((4.6, 3.6, 1.8, 0.7, 1.8, 3.6)):
        coin = Picture(16, 16)
        coin.ellipse(7.5, 7.5, half, 5.2, "Y")
        coin.ellipse(7.2, 7.5, max(half - 1.0, 0.4), 4.3, "y")
        if half > 2:
            coin.line(7.2, 5.4, 7.2, 9.6, "Y")
            coin.put(7.2 - half * 0.45, 5.2, "w")
            coin.put(7.2 - half * 0.45, 6.2, "w")
        sheet.paste(coin.outline("Z"), 16 * i, 0)
    sheet.save("coin.png")
    spark = Picture(16 * 4, 16)
    for i, radius in enumerate((2, 4, 5, 6)):
        for angle in range(8):
            a = angle / 8 * math.tau
            length = (3, 3, 2, 1)[i] * (1 if angle % 2 == 0 else 0.6)
            x, y = math.cos(a), math.sin(a)
            spark.line(16 * i + 7.5 + x * radius, 7.5 + y * radius,
                       16 * i + 7.5 + x * (radius + length - 1), 7.5 + y * (radius + length - 1),
                       "y" if i < 3 else "p")
    spark.save("spark.png")


def hearts():
    sheet = Picture(16 * 2, 16)
    shape = [".rr...rr.", "rwrr.rrrr", "rwrrrrrrR", "rrrrrrrrR", "rrrrrrrrR", ".rrrrrrR.",
             "..rrrrR..", "...rrR...", "....R...."]
    full, empty = Picture(16, 16), Picture(16, 16)
    full.art(3, 3, shape)
    empty.art(3, 3, [line.replace("r", "T").replace("w", "T").replace("R", "T") for line in shape])
    sheet.paste(full.outline(), 0, 0)
    sheet.paste(empty.outline(), 16, 0)
    sheet.save("heart.png")


def flags():
    sheet = Picture(32 * 4, 48)
    for i in range(4):
        flag = Picture(32, 48)
        flag.rect(6, 4, 2, 44, "t")
        flag.rect(6, 4, 1, 44, "i")
        flag.rect(5, 1, 4, 4, "y")
        for x in range(19):
            wave_y = round(1.6 * math.sin(x / 19 * math.tau - i / 4 * math.tau) * (x / 19))
            for y in range(12):
                if x > 14 and abs(y - 5.5) < (x - 14):
                    continue
                light = "r" if (x + i * 5) % 19 < 11 else "R"
                flag.put(8 + x, 7 + y + wave_y, light)
        sheet.paste(flag.outline(), 32 * i, 0)
    sheet.save("flag.png")


# Tiles: 16 x 16, eight in a row -------------------------------------------------------------------

TILE = 16
rng = random.Random(7)


def earth(left=False, right=False, stones=0):
    tile = Picture(TILE, TILE, COLORS["d"])
    for _ in range(7):
        x, y = rng.randrange(16), rng.randrange(16)
        tile.rect(x, y, rng.choice((2, 3)), 1, rng.choice("De"))
    for _ in range(stones):
        x, y = rng.randrange(2, 11), rng.randrange(4, 12)
        tile.rect(x, y, 4, 3, "D")
        tile.rect(x, y, 3, 2, "e")
    for y in range(16):
        if left:
            tile.put(0, y, "k")
            tile.put(1, y, "D")
        if right:
            tile.put(15, y, "k")
            tile.put(14, y, "D")
    return tile


BLADES = [3, 4, 6, 5, 3, 4, 5, 7, 5, 4, 3, 5, 6, 4, 3, 4]


def grass(left=False, right=False):
    tile = earth(left, right, 1)
    for x in range(16):
        depth = BLADES[x]
        for y in range(depth + 2):
            color = "G" if y >= depth else ("l" if y < 2 else "g")
            tile.put(x, y, color)
        tile.put(x, 0, "L" if x % 5 else "l")
    if left:
        tile.rect(0, 1, 1, 15, "k")
        tile.put(0, 0, CLEAR)
        tile.rect(1, 1, 1, 5, "g")
    if right:
        tile.rect(15, 1, 1, 15, "k")
        tile.put(15, 0, CLEAR)
        tile.rect(14, 1, 1, 5, "g")
    return tile


def slope(rising):
    tile = earth()
    for x in range(16):
        top = 15 - x if rising else x
        for y in range(16):
            if y < top:
                tile.put(x, y, CLEAR)
            elif y < top + 7:
                step = y - top
                tile.put(x, y, "L" if step == 0 else "l" if step < 2 else
                         "g" if step < BLADES[x] + 1 else "G")
    return tile


def below_slope(rising):
    tile = earth()
    for x in range(16):
        reach = (x - 9 if not rising else 6 - x)
        for y in range(max(0, min(6, reach))):
            tile.put(x, y, "G" if y == reach - 1 else "g")
    return tile


def platform(part):
    tile = Picture(TILE, TILE)
    tile.rect(0, 0, 16, 6, "o")
    tile.rect(0, 0, 16, 1, "p")
    tile.rect(0, 5, 16, 1, "O")
    for x in (5, 12):
        tile.rect(x, 1, 1, 4, "O")
    tile.rect(0, 6, 16, 1, "k")
    if part == "left":
        tile.rect(0, 0, 1, 7, "k")
        tile.rect(3, 6, 2, 4, "O")
        tile.put(5, 6, "O")
    if part == "right":
        tile.rect(15, 0, 1, 7, "k")
        tile.rect(11, 6, 2, 4, "O")
    return tile


def spikes():
    tile = Picture(TILE, TILE)
    for spike in range(3):
        middle = 2 + spike * 5 + (spike > 0)
        for y in range(9):
            half = y // 4 + (y > 0)
            for x in range(-half, half + 1):
                shade = "w" if x == -half and y < 8 else "i" if x < 1 else "t"
                tile.put(middle + x, 7 + y, shade)
    return tile.outline("T")


def block():
    tile = Picture(TILE, TILE, COLORS["t"])
    tile.rect(0, 0, 16, 1, "i")
    tile.rect(0, 0, 1, 16, "i")
    tile.rect(0, 15, 16, 1, "T")
    tile.rect(15, 0, 1, 16, "T")
    tile.rect(0, 7, 16, 1, "T")
    tile.rect(7, 1, 1, 6, "T")
    tile.rect(3, 8, 1, 7, "T")
    tile.rect(11, 8, 1, 7, "T")
    tile.rect(8, 1, 7, 1, "i")
    tile.rect(4, 8, 7, 1, "i")
    return tile


def tuft():
    tile = Picture(TILE, TILE)
    for x, height in ((3, 4), (5, 7), (7, 5), (9, 8), (11, 6), (13, 3)):
        lean = (x - 8) // 3
        for y in range(height):
            tile.put(x + (lean if y > height - 3 else 0), 15 - y, "l" if y > height // 2 else "g")
    return tile


def flower(petal, middle):
    tile = Picture(TILE, TILE)
    for x, height in ((5, 7), (11, 5)):
        tile.rect(x, 16 - height, 1, height, "G")
        tile.put(x + 1, 14, "g")
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            tile.put(x + dx, 15 - height + dy, petal)
        tile.put(x, 15 - height, middle)
    return tile


def bush(right):
    tile = Picture(TILE, TILE)
    full = Picture(32, 16)
    for cx, cy, radius in ((8, 12, 7), (16, 9, 8.6), (24, 12, 7)):
        full.ellipse(cx, cy, radius, radius * 0.95, "G")
    for cx, cy, radius in ((8, 11, 5.4), (16, 8, 6.8), (24, 11, 5.4)):
        full.ellipse(cx, cy, radius, radius * 0.9, "g")
    for cx, cy in ((6, 8), (14, 4), (18, 6), (23, 8), (11, 10)):
        full.rect(cx, cy, 3, 1, "l")
        full.put(cx + 1, cy - 1, "l")
    full.outline("G")
    for y in range(16):
        for x in range(16):
            tile.put(x, y, full.get(x + (16 if right else 0), y))
    return tile


def sign():
    tile = Picture(TILE, TILE)
    tile.rect(7, 8, 2, 8, "O")
    tile.rect(2, 2, 11, 7, "o")
    tile.rect(2, 2, 11, 1, "p")
    tile.line(4, 5, 10, 5, "k")
    tile.line(8, 3, 10, 5, "k")
    tile.line(8, 7, 10, 5, "k")
    return tile.outline()


def mushroom():
    tile = Picture(TILE, TILE)
    tile.rect(6, 10, 4, 6, "w")
    tile.ellipse(7.5, 9, 5.5, 3.6, "r")
    tile.rect(2, 10, 12, 1, "R")
    for x, y in ((5, 7), (9, 6), (11, 9), (3, 9)):
        tile.rect(x, y, 2, 1, "w")
    return tile


def water(phase):
    tile = Picture(TILE, TILE, COLORS["A"])
    for x in range(16):
        top = 5 + round(1.2 * math.sin(x / 16 * math.tau + phase / 4 * math.tau))
        for y in range(top):
            tile.put(x, y, CLEAR)
        tile.put(x, top, "c")
        tile.put(x, top + 1, "a")
        tile.put(x, top + 2, "a")
    x = (phase * 4 + 3) % 16
    tile.rect(x, 11, min(3, 16 - x), 1, "a")
    return tile


def deep():
    tile = Picture(TILE, TILE, COLORS["A"])
    tile.rect(3, 4, 3, 1, "a")
    tile.rect(10, 11, 3, 1, "a")
    return tile


(GRASS, GRASS_LEFT, GRASS_RIGHT, GRASS_BOTH, EARTH, EARTH_LEFT, EARTH_RIGHT, EARTH_STONES,
 RISING, FALLING, BELOW_RISING, BELOW_FALLING, PLATFORM_LEFT, PLATFORM, PLATFORM_RIGHT, SPIKES,
 BLOCK, TUFT, FLOWER_RED, FLOWER_YELLOW, BUSH_LEFT, BUSH_RIGHT, MUSHROOM, SIGN,
 WATER, WATER_2, WATER_3, WATER_4, DEEP, EARTH_BOTH) = range(30)
SOLID = [GRASS, GRASS_LEFT, GRASS_RIGHT, GRASS_BOTH, EARTH, EARTH_LEFT, EARTH_RIGHT, EARTH_STONES,
         BELOW_RISING, BELOW_FALLING, BLOCK, EARTH_BOTH]


def tiles():
    drawn = {
        GRASS: grass(), GRASS_LEFT: grass(True), GRASS_RIGHT: grass(False, True),
        GRASS_BOTH: grass(True, True), EARTH: earth(), EARTH_LEFT: earth(True),
        EARTH_RIGHT: earth(False, True), EARTH_STONES: earth(False, False, 2),
        RISING: slope(True), FALLING: slope(False), BELOW_RISING: below_slope(True),
        BELOW_FALLING: below_slope(False), PLATFORM_LEFT: platform("left"),
        PLATFORM: platform("middle"), PLATFORM_RIGHT: platform("right"), SPIKES: spikes(),
        BLOCK: block(), TUFT: tuft(), FLOWER_RED: flower("r", "y"),
        FLOWER_YELLOW: flower("y", "r"), BUSH_LEFT: bush(False), BUSH_RIGHT: bush(True),
        MUSHROOM: mushroom(), SIGN: sign(), WATER: water(0), WATER_2: water(1), WATER_3: water(2),
        WATER_4: water(3), DEEP: deep(), EARTH_BOTH: earth(True, True),
    }
    sheet = Picture(TILE * 8, TILE * 4)
    for number, tile in drawn.items():
        sheet.paste(tile, number % 8 * TILE, number // 8 * TILE)
    sheet.save("tiles.png")


# The background: pictures that repeat horizontally ------------------------------------------------

SKY = (rgb("4a90d9"), rgb("8cc8ee"), rgb("d9eef0"), rgb("fff2d8"))
BAYER = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]


def sky():
    """A gradient in bands, which dither into each other."""
    picture, steps = Picture(16, 320), 18
    for y in range(320):
        for x in range(16):
            band = math.floor(y / 319 * steps + (BAYER[y % 4][x % 4] + 0.5) / 16)
            t = min(1, band / steps) * (len(SKY) - 1)
            at = min(int(t), len(SKY) - 2)
            picture.put(x, y, mix(SKY[at], SKY[at + 1], t - at))
    picture.save("sky.png")


def periodic(width, seed, waves):
    """A curve with this period: amplitudes of waves that fit into it."""
    own = random.Random(seed)
    phases = [own.random() * math.tau for _ in waves]
    return [sum(a * math.sin(n * x / width * math.tau + phase)
                for (n, a), phase in zip(waves, phases)) for x in range(width)]


def mountains():
    width, height = 384, 144
    picture = Picture(width, height)
    own = random.Random(3)
    peaks = [(own.randrange(width), own.randrange(34, 92), own.uniform(0.55, 0.95))
             for _ in range(13)]
    back, light, snow = rgb("8fb3dd"), rgb("a9c8e6"), rgb("f3f6f4")
    for x in range(width):
        best, side = 28, 0
        for peak, tall, steep in peaks:
            away = (x - peak + width // 2) % width - width // 2
            high = tall - abs(away) * steep
            if high > best:
                best, side = high, away
        for y in range(height):
            under = y - (height - best)
            if under >= 0:
                color = light if side < 0 else back
                if best > 58 and under < 11 + 3 * abs((x // 2) % 6 - 3):
                    color = snow if side < 0 else mix(snow, back, 0.35)
                fade = max(0, (y - 90) / 54)
                picture.put(x, y, mix(color, rgb("d5e0d8"), 0.8 * fade))
    picture.save("mountains.png")


def hills(name, seed, height, base, amplitude, dark, light, trees):
    width = 384
    picture = Picture(width, height)
    curve = periodic(width, seed, [(2, 1), (3, 0.6), (5, 0.35)])
    tops = [round(height - base - amplitude * value) for value in curve]
    own = random.Random(seed)
    for _ in range(trees):
        x = own.randrange(width)
        tall, half = own.randrange(16, 30), own.randrange(6, 10)
        top = tops[x] - tall
        for y in range(tall + 3):
            # Layers of branches, narrower to the top.
            layer = y % 7
            reach = half * (0.25 + 0.75 * y / tall) * (0.72 + 0.28 * layer / 6)
            for dx in range(-math.ceil(reach), math.ceil(reach) + 1):
                if abs(dx) <= reach:
                    color = mix(dark, light, 0.45 if dx < 0 and layer < 4 else 0.0)
                    column = (x + dx) % width
                    if picture.inside(column, top + y):
                        picture.put(column, top + y, color)
    for x in range(width):
        for y in range(max(0, tops[x]), height):
            deep_down = y - tops[x]
            color = light if deep_down < 3 else mix(light, dark, min(1, 0.35 + deep_down / 60))
            if deep_down == 3 and (x + y) % 2:
                color = light
            picture.put(x, y, color)
    picture.save(name)


PUFFS = ((-25, 4, 6), (-14, 0, 9), (0, -6, 13), (15, -1, 9.5), (26, 4, 6))


def clouds():
    width, height = 384, 96
    picture = Picture(width, height)
    for cx, cy, size, turned in ((48, 30, 1.0, 1), (150, 64, 0.6, -1), (232, 26, 0.8, -1),
                                 (326, 56, 1.15, 1)):
        bottom = round(cy + 8 * size)
        for shade, drop in ((rgb("dbe8f5"), 0), (rgb("ffffff"), 4)):
            for dx, dy, radius in PUFFS:
                x0, y0, reach = cx + dx * size * turned, cy + dy * size, radius * size
                for y in range(round(y0 - reach), bottom - drop):
                    for x in range(math.floor(x0 - reach), math.ceil(x0 + reach) + 1):
                        if math.hypot(x - x0, y + drop * 0.4 - y0) <= reach:
                            if picture.inside(x % width, y):
                                picture.put(x % width, y, shade)
    picture.save("clouds.png")


# The map ------------------------------------------------------------------------------------------

ROWS = 18


class Level:
    """Tiles, decoration and objects in cells from the bottom left."""

    def __init__(self):
        self.ground, self.shapes, self.objects = {}, {}, []
        self.heights, self.x = [], 0

    def flat(self, count, height):
        for _ in range(count):
            self.heights.append(height)
            self.x += 1

    def rise(self, count, height):
        for i in range(count):
            self.heights.append(height + i + 1)
            self.shapes[(self.x, height + i)] = RISING
            self.x += 1

    def fall(self, count, height):
        for i in range(count):
            self.heights.append(height - i)
            self.shapes[(self.x, height - i - 1)] = FALLING
            self.x += 1

    def water(self, count):
        self.flat(count, 0)

    def add(self, kind, x, y, **properties):
        self.objects.append((kind, x, y, properties))

    def coins(self, points):
        for x, y in points:
            self.add("coin", x, y)

    def arc(self, x, y, count, high):
        self.coins([(x + i, y + round(high * math.sin((i + 0.5) / count * math.pi) * 2) / 2)
                    for i in range(count)])


def first_level():
    level = Level()
    level.flat(13, 4)
    level.rise(2, 4)
    level.flat(8, 6)
    level.water(3)
    level.flat(11, 5)
    level.fall(1, 5)
    level.flat(13, 4)
    level.flat(4, 6)
    level.flat(4, 8)
    level.water(8)
    level.flat(9, 5)
    level.rise(3, 5)
    level.flat(7, 8)
    level.fall(4, 8)
    level.flat(9, 4)
    level.water(4)
    level.flat(17, 5)
    tiles_at = {}
    for x, height in enumerate(level.heights):
        for y in range(height):
            tiles_at[(x, y)] = EARTH
        if height == 0:
            for y in range(3):
                tiles_at[(x, y)] = WATER if y == 2 else DEEP
    tiles_at.update(level.shapes)

    def platform_at(x, y, count):
        for i in range(count):
            part = PLATFORM_LEFT if i == 0 else PLATFORM_RIGHT if i == count - 1 else PLATFORM
            tiles_at[(x + i, y)] = part

    def blocks_at(x, y, count):
        for i in range(count):
            tiles_at[(x + i, y)] = BLOCK

    platform_at(29, 7, 4)
    platform_at(34, 10, 3)
    blocks_at(41, 6, 4)
    platform_at(60, 6, 3)
    platform_at(64, 8, 3)
    blocks_at(73, 9, 3)
    platform_at(83, 10, 3)
    platform_at(97, 6, 2)
    for x in (46, 47, 95):
        tiles_at[(x, level.heights[x])] = SPIKES
    level.add("player", 3, 4)
    level.arc(5, 5, 5, 1)
    level.coins([(18, 7), (19, 7), (20, 7)])
    level.arc(22, 8, 5, 2)
    level.coins([(30, 9), (31, 9), (34, 12), (35, 12), (36, 12)])
    level.coins([(41, 8), (42, 8), (43, 8), (44, 8), (42, 5), (43, 5)])
    level.arc(45, 5, 4, 2)
    level.coins([(52, 7), (53, 7), (56, 9), (57, 9), (60, 8), (61, 8), (64, 10), (65, 10)])
    level.coins([(69, 6), (70, 6), (73, 11), (74, 11), (75, 11), (83, 12), (84, 12), (85, 12)])
    level.arc(90, 7, 4, 1)
    level.arc(96, 8, 5, 2)
    level.coins([(106, 6), (107, 6), (108, 6), (109, 6)])
    for x, y, speed in ((19, 6, 1.5), (30, 5, 2), (42, 4, 2), (70, 5, 2), (82, 8, 1.5),
                        (103, 5, 3)):
        level.add("slime", x, y, speed=speed)
    level.add("goal", 112, 5)
    return level, tiles_at


def choose_tiles(tiles_at, width):
    """Turns earth into grass and edges, by its neighbours."""
    earths = {at for at, tile in tiles_at.items() if tile == EARTH}
    slopes = {at for at, tile in tiles_at.items() if tile in (RISING, FALLING)}
    full = earths | slopes
    own = random.Random(5)
    chosen = dict(tiles_at)
    for x, y in sorted(earths):
        left = x > 0 and (x - 1, y) not in full
        right = x < width - 1 and (x + 1, y) not in full
        if (x, y + 1) in slopes:
            chosen[(x, y)] = BELOW_RISING if tiles_at[(x, y + 1)] == RISING else BELOW_FALLING
        elif (x, y + 1) not in earths:
            chosen[(x, y)] = (GRASS, GRASS_RIGHT, GRASS_LEFT, GRASS_BOTH)[left * 2 + right]
        elif left or right:
            chosen[(x, y)] = (0, EARTH_RIGHT, EARTH_LEFT, EARTH_BOTH)[left * 2 + right]
        elif own.random() < 0.15:
            chosen[(x, y)] = EARTH_STONES
    return chosen


def decorate(tiles_at, width):
    own, decor = random.Random(11), {}
    grass_tiles = (GRASS, GRASS_LEFT, GRASS_RIGHT)
    for x in range(width):
        for y in range(ROWS - 1):
            free = (x, y + 1) not in tiles_at and (x, y + 1) not in decor
            if tiles_at.get((x, y)) not in grass_tiles or not free:
                continue
            beside = tiles_at.get((x + 1, y)) in grass_tiles and (x + 1, y + 1) not in tiles_at
            choice = own.random()
            if choice < 0.16 and beside:
                decor[(x, y + 1)], decor[(x + 1, y + 1)] = BUSH_LEFT, BUSH_RIGHT
            elif choice < 0.62:
                kinds = [TUFT, TUFT, TUFT, FLOWER_RED, FLOWER_YELLOW, MUSHROOM]
                decor[(x, y + 1)] = own.choice(kinds)
    decor[(6, 4)] = SIGN
    return decor


def csv(cells, width):
    rows = []
    for y in reversed(range(ROWS)):
        rows.append(",".join(str(cells.get((x, y), -1) + 1) for x in range(width)))
    return ",\n".join(rows)


def tile_set():
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<tileset version="1.10" tiledversion="1.10.2" name="tiles" tilewidth="16" '
             'tileheight="16" tilecount="32" columns="8">',
             ' <image source="../textures/tiles.png" width="128" height="64"/>']
    for number in range(30):
        if number in SOLID:
            lines.append(f' <tile id="{number}" type="solid"/>')
        elif number in (RISING, FALLING):
            points = "0,0 16,-16 16,0" if number == RISING else "0,0 0,-16 16,0"
            lines += [f' <tile id="{number}">', '  <objectgroup draworder="index" id="2">',
                      f'   <object id="1" x="0" y="16"><polygon points="{points}"/></object>',
                      "  </objectgroup>", " </tile>"]
        elif number in (PLATFORM_LEFT, PLATFORM, PLATFORM_RIGHT):
            lines.append(f' <tile id="{number}" type="one_way"/>')
        elif number == WATER:
            frames = "".join(f'<frame tileid="{WATER + i}" duration="200"/>' for i in range(4))
            lines.append(f' <tile id="{number}" type="hazard"><animation>{frames}</animation>'
                         "</tile>")
        elif number in (SPIKES, DEEP):
            lines.append(f' <tile id="{number}" type="hazard"/>')
    return "\n".join(lines + ["</tileset>", ""])


def image_layer(number, name, height, offset, factors):
    return (f' <imagelayer id="{number}" name="{name}" offsetx="0" offsety="{offset}" '
            f'parallaxx="{factors[0]}" parallaxy="{factors[1]}" repeatx="1">\n'
            f'  <image source="../textures/{name}.png" width="{height[0]}" height="{height[1]}"/>\n'
            " </imagelayer>")


def write_map():
    level, tiles_at = first_level()
    width = level.x
    chosen = choose_tiles(tiles_at, width)
    decor = decorate(chosen, width)
    size = f'width="{width}" height="{ROWS}"'
    bottom = ROWS * TILE
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             f'<map version="1.10" tiledversion="1.10.2" orientation="orthogonal" '
             f'renderorder="right-down" {size} tilewidth="16" tileheight="16" infinite="0" '
             f'parallaxoriginx="213" parallaxoriginy="{bottom - 120}" nextlayerid="20" '
             'nextobjectid="400">',
             ' <tileset firstgid="1" source="tiles.tsx"/>',
             image_layer(1, "sky", (16, 320), bottom - 120 - 160, (0, 0)),
             image_layer(2, "clouds", (384, 96), bottom - 232, (0.1, 0.1)),
             image_layer(3, "mountains", (384, 144), bottom - 200, (0.2, 0.2)),
             image_layer(4, "hills", (384, 112), bottom - 152, (0.4, 0.4)),
             image_layer(5, "trees", (384, 96), bottom - 124, (0.6, 0.6))]
    for number, name, cells in ((6, "decoration", decor), (7, "ground", chosen)):
        lines += [f' <layer id="{number}" name="{name}" {size}>', '  <data encoding="csv">',
                  csv(cells, width), "</data>", " </layer>"]
    lines.append(' <objectgroup id="8" name="objects">')
    for number, (kind, x, y, properties) in enumerate(level.objects):
        left, top = (x + 0.5) * TILE, bottom - y * TILE
        if kind == "coin":
            top -= TILE / 2
        own = "".join(f'<property name="{key}" type="float" value="{value}"/>'
                      for key, value in properties.items())
        own = f"<properties>{own}</properties>" if own else ""
        lines.append(f'  <object id="{number + 1}" type="{kind}" x="{left:g}" y="{top:g}">{own}'
                     "<point/></object>")
    lines += [" </objectgroup>", "</map>", ""]
    (HERE / "maps").mkdir(exist_ok=True)
    (HERE / "maps" / "level_1.tmx").write_text("\n".join(lines))
    (HERE / "maps" / "tiles.tsx").write_text(tile_set())


# Sounds -------------------------------------------------------------------------------------------

RATE = 22050


def write_wav(name, seconds, sample_at):
    own, samples = random.Random(name), []
    for i in range(int(seconds * RATE)):
        t = i / RATE
        fade = min(1, t * 400) * min(1, (seconds - t) * 60)
        samples.append(int(max(-1, min(1, sample_at(t, own))) * fade * 20000))
    path = HERE / "sounds" / name
    path.parent.mkdir(exist_ok=True)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def square(t, pitch, width=0.5):
    # The mean of some points within a sample keeps high tones clean.
    return sum(1 if ((t + i / RATE / 4) * pitch) % 1 < width else -1 for i in range(4)) / 4


def sweep(t, low, high, seconds):
    """The phase of a tone that moves from one pitch to another, as a number of vibrations."""
    return low * t + (high - low) * t * t / (2 * seconds)


def triangle(phase):
    return 4 * abs(phase % 1 - 0.5) - 1


def note(t, notes, length):
    index = min(int(t / length), len(notes) - 1)
    return notes[index], t - index * length


def sounds():
    def jump(t, _):
        phase = sweep(t, 260, 620, 0.2)
        return (0.7 * triangle(phase) + 0.2 * (1 if phase % 1 < 0.3 else -1)) * math.exp(-t * 7)

    def coin(t, _):
        pitch, own = note(t, (988, 1319), 0.07)
        return 0.4 * square(t, pitch, 0.4) * math.exp(-own * 9)

    def stomp(t, own):
        body = triangle(sweep(t, 300, 60, 0.22))
        return (0.8 * body + 0.35 * own.uniform(-1, 1) * math.exp(-t * 50)) * math.exp(-t * 12)

    def hurt(t, own):
        phase = sweep(t, 420, 110, 0.45)
        return (0.5 * (1 if phase % 1 < 0.4 else -1) + 0.2 * own.uniform(-1, 1)) * math.exp(-t * 6)

    def land(t, own):
        body = triangle(sweep(t, 120, 60, 0.1))
        return (0.5 * body + 0.3 * own.uniform(-1, 1)) * math.exp(-t * 55)

    def win(t, _):
        pitch, own = note(t, (523, 659, 784, 1047, 784, 1047), 0.13)
        tone = 0.5 * triangle(t * pitch) + 0.2 * square(t, pitch, 0.3)
        return tone * math.exp(-own * (2.5 if t > 0.65 else 5))

    def select(t, _):
        return 0.35 * square(t, 660, 0.3) * math.exp(-t * 30)

    for name, seconds, sample_at in (("jump", 0.2, jump), ("coin", 0.35, coin),
                                     ("stomp", 0.22, stomp), ("hurt", 0.4, hurt),
                                     ("land", 0.09, land), ("win", 1.2, win),
                                     ("select", 0.09, select)):
        write_wav(name + ".wav", seconds, sample_at)


if __name__ == "__main__":
    heroes()
    slimes()
    coins()
    hearts()
    flags()
    tiles()
    sky()
    clouds()
    mountains()
    hills("hills.png", 4, 112, 50, 16, rgb("6aa88f"), rgb("93c9a0"), 0)
    hills("trees.png", 9, 96, 34, 8, rgb("3f7d74"), rgb("5fa583"), 46)
    write_map()
    sounds()
