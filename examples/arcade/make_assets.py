#!/usr/bin/env python3
"""Makes every picture, sound and map of this example. Needs Python 3 and nothing else; the same
files come out on every machine. `python3 make_assets.py` writes them beside itself.

The caves are drawn as text in art/caves.art, the figures in art/figures.art."""

import math
import os
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
CELL = 16


def path(name):
    full = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    return full


def noise(x, y, seed=0):
    """A number from 0 to 1 for a place: the same on every machine, unlike random's."""
    n = (x * 374761393 + y * 668265263 + seed * 2147483647) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((n ^ (n >> 16)) & 0xFFFF) / 65535


def mix(a, b, t):
    return tuple(round(a[i] + (b[i] - a[i]) * t) for i in range(3))


def shade(color, factor):
    return tuple(max(0, min(255, round(part * factor))) for part in color[:3])


# Pictures -----------------------------------------------------------------------------------------


class Picture:
    """Pixels from the left top, each (red, green, blue, alpha) or None."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [[None] * width for _ in range(height)]

    def put(self, x, y, color, alpha=255):
        if 0 <= x < self.width and 0 <= y < self.height:
            self.rows[y][x] = None if color is None else tuple(color[:3]) + (alpha,)

    def get(self, x, y):
        return self.rows[y][x] if 0 <= x < self.width and 0 <= y < self.height else None

    def paste(self, other, left, top):
        for y, row in enumerate(other.rows):
            for x, color in enumerate(row):
                if color:
                    self.put(left + x, top + y, color, color[3])

    def outline(self, color):
        """Draws a line of one pixel around what is there."""
        empty = [(x, y) for y in range(self.height) for x in range(self.width)
                 if not self.get(x, y)]
        full = {at for at in empty
                if any(self.get(at[0] + dx, at[1] + dy)
                       for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))}
        for x, y in full:
            self.put(x, y, color)

    def save(self, name):
        lines = b"".join(
            b"\0" + b"".join(bytes(color or (0, 0, 0, 0)) for color in row) for row in self.rows)

        def chunk(kind, data):
            check = zlib.crc32(kind + data)
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 6, 0, 0, 0)
        with open(path(name), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
                       + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def row_of(pictures):
    """Pictures of one size, side by side."""
    whole = Picture(sum(each.width for each in pictures), pictures[0].height)
    left = 0
    for each in pictures:
        whole.paste(each, left, 0)
        left += each.width
    return whole


# The ground: floor, earth and rock ----------------------------------------------------------------

NIGHT = (20, 16, 30)
FLOOR = (44, 37, 60)
EARTH = (128, 84, 56)
ROCK = (92, 98, 128)
UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8


def floor_tile(seed):
    tile = Picture(CELL, CELL)
    for y in range(CELL):
        for x in range(CELL):
            grain = noise(x // 2, y // 2, seed) * 0.16 + noise(x, y, seed + 9) * 0.08
            tile.put(x, y, shade(FLOOR, 0.84 + grain))
    for i in range(3):
        x, y = int(noise(i, 1, seed) * 13) + 1, int(noise(i, 2, seed) * 13) + 1
        if noise(i, 3, seed) > 0.45:
            for dx, dy, light in ((0, 0, 1.3), (1, 0, 1.16), (0, 1, 0.98), (1, 1, 0.72)):
                tile.put(x + dx, y + dy, shade(FLOOR, light))
    return tile


def grain_of_earth(x, y):
    value = 0.86 + 0.16 * noise(x // 3, y // 2, 3) + 0.12 * noise(x, y, 4)
    return shade(EARTH, value)


def grain_of_rock(x, y):
    """Blocks of stone in two rows that are shifted against each other."""
    row = y // 8
    across, down = (x + 5 * row) % 8, y % 8
    block = ((x + 5 * row) // 8) * 7 + row
    value = 0.82 + 0.2 * noise(block, 1, 5) + 0.08 * noise(x, y, 6)
    if across == 0 or down == 7:
        value *= 0.66
    elif down == 0 or across == 1:
        value *= 1.16
    return shade(ROCK, value)


def depth_at(x, y, closed):
    """How many pixels a place lies inside of a tile whose open sides are worn away a little; below
    0: outside. `closed`: the sides with something solid beyond."""
    far = 99
    sides = ((UP, y, x), (DOWN, CELL - 1 - y, x), (LEFT, x, y), (RIGHT, CELL - 1 - x, y))
    for side, inward, along in sides:
        if not closed & side:
            far = min(far, inward - (1 if noise(along // 2, side, 7) > 0.55 else 0))
    corners = ((UP | LEFT, x, y), (UP | RIGHT, CELL - 1 - x, y),
               (DOWN | LEFT, x, CELL - 1 - y), (DOWN | RIGHT, CELL - 1 - x, CELL - 1 - y))
    for both, across, down in corners:
        if not closed & both:
            far = min(far, across + down - 4)
    return far


def ground_tile(grain, closed):
    tile = Picture(CELL, CELL)
    for y in range(CELL):
        for x in range(CELL):
            depth = depth_at(x, y, closed)
            color = grain(x, y)
            if depth < 0:
                continue
            if depth == 0:
                color = shade(color, 0.42)
            elif depth == 1:
                from_top = not closed & UP and y < 4
                color = shade(color, 1.42 if from_top else 1.16)
            elif depth == 2 and not closed & UP and y < 5:
                color = shade(color, 1.14)
            tile.put(x, y, color)
    return tile


def earth_tile(closed):
    tile = ground_tile(grain_of_earth, closed)
    for x, y, wide in ((4, 4, 2), (11, 6, 1), (7, 11, 2), (12, 12, 1)):
        tile.put(x, y, shade(EARTH, 1.3))
        for i in range(1, wide + 1):
            tile.put(x + i, y, shade(EARTH, 1.18))
        for i in range(wide + 1):
            tile.put(x + i, y + 1, shade(EARTH, 0.66))
    return tile


# Things -------------------------------------------------------------------------------------------


def boulder():
    picture = Picture(CELL, CELL)
    tones = [(58, 54, 74), (84, 80, 102), (112, 108, 130), (146, 142, 160), (186, 184, 196)]
    for y in range(CELL):
        for x in range(CELL):
            dx, dy = (x - 7.5) / 7.2, (y - 7.5) / 7.2
            bump = 0.06 * (noise(x // 3, y // 3, 21) - 0.5)
            if dx * dx + dy * dy > 1 + bump:
                continue
            dz = math.sqrt(max(0, 1 - dx * dx - dy * dy))
            light = 0.42 * dz - 0.5 * dy - 0.36 * dx + 0.3 + 0.2 * (noise(x, y, 22) - 0.5)
            picture.put(x, y, tones[max(0, min(4, int(light * 4.4)))])
    for x, y in ((9, 4), (10, 5), (10, 6), (11, 7), (4, 9), (5, 10), (6, 10), (7, 11)):
        picture.put(x, y, tones[0])
        if picture.get(x - 1, y + 1):
            picture.put(x - 1, y + 1, tones[3])
    picture.outline(NIGHT)
    for y in (0, CELL - 1):
        for x in range(CELL):
            if picture.get(x, y) and abs(x - 7.5) > 4:
                picture.put(x, y, None)
    return picture


def gem(glint):
    """A cut stone; `glint` is where light runs over it, from 0 to 1, or None."""
    picture = Picture(CELL, CELL)
    for y in range(2, 15):
        half = 3.6 + (y - 2) * 0.9 if y < 5 else 6.4 * (1 - (y - 5) / 9.5)
        for x in range(CELL):
            off = x - 7.5
            if abs(off) > half:
                continue
            side = off / max(half, 0.6)
            if y < 5:
                tone = 0.86 if abs(side) < 0.45 else (1.0 if side < 0 else 0.66)
            else:
                facet = 0 if side < -0.4 else (1 if side < 0.35 else 2)
                tone = (0.9, 0.74, 0.5)[facet] - 0.012 * (y - 5)
            color = mix((20, 90, 150), (150, 250, 255), tone)
            if y == 5:
                color = mix(color, (230, 255, 255), 0.45)
            if glint is not None and abs((x + y) / 30 - (0.1 + 0.8 * glint)) < 0.07:
                color = (245, 255, 255)
            picture.put(x, y, color)
    picture.outline((16, 40, 74))
    return picture


def door(light):
    """The way out: shut with planks, or with light behind it, from 0 to 1."""
    picture = Picture(CELL, CELL)
    for y in range(1, CELL):
        for x in range(1, CELL - 1):
            inside = 3 <= x <= 12 and y >= 4
            if y < 4 and (x < 3 - y + 1 or x > 12 + y - 1):
                continue
            wood = shade((138, 92, 52), 0.8 + 0.35 * noise(x if y < 4 else x // 9, y // 2, 31))
            if not inside:
                picture.put(x, y, wood)
            elif light is None:
                plank = shade((104, 70, 46), 0.75 + 0.3 * noise((y - 4) // 3, 2, 32))
                picture.put(x, y, shade(plank, 0.55) if (y - 4) % 3 == 2 else plank)
            else:
                away = math.hypot((x - 7.5) / 6, (y - 13) / 10)
                picture.put(x, y, mix((255, 246, 190), (150, 70, 30), min(1, away * (1.1 - light / 3))))
    if light is None:
        for i in range(10):
            picture.put(3 + i, 5 + i, (74, 50, 40))
            picture.put(3 + i, 6 + i, (150, 104, 62))
    picture.outline(NIGHT)
    return picture


def glow():
    """Soft light, for materials that add it."""
    picture = Picture(32, 32)
    for y in range(32):
        for x in range(32):
            near = max(0, 1 - math.hypot(x - 15.5, y - 15.5) / 15.5)
            picture.put(x, y, (255, 255, 255), round(255 * near * near))
    return picture


def read_figures():
    """Figures drawn in letters: a line `= name frame`, rows of pixels, and `! name` for a palette."""
    figures, colors, rows = {}, {}, None
    with open(os.path.join(HERE, "art/figures.art"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("//"):
                continue
            if line.startswith("="):
                rows = figures.setdefault(line[1:].strip(), [])
            elif line.startswith("!"):
                letter, color = line[1:].split()
                colors[letter] = tuple(int(color[i:i + 2], 16) for i in (1, 3, 5))
            elif line and rows is not None:
                rows.append(line)
    pictures = {}
    for name, rows in figures.items():
        mirrored = name.startswith("bat")
        rows = [row + row[::-1] if mirrored else row for row in rows]
        wrong = [row for row in rows if len(row) != len(rows[0])]
        assert not wrong, f"{name}: rows of different lengths: {wrong}"
        picture = Picture(len(rows[0]), len(rows))
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                if letter != ".":
                    picture.put(x, y, colors[letter])
        pictures[name] = picture
    return pictures


def letters(figures, word, color, back=None):
    """A word in the small letters of art/figures.art."""
    signs = [figures[f"letter {letter}"] for letter in word]
    picture = Picture(sum(sign.width + 1 for sign in signs) - 1, signs[0].height)
    left = 0
    for sign in signs:
        for y in range(sign.height):
            for x in range(sign.width):
                if sign.get(x, y):
                    picture.put(left + x, y, color)
        left += sign.width + 1
    return picture


def sign(figures, word):
    """A wooden board that says where the way out is."""
    text = letters(figures, word, (255, 236, 180))
    width = text.width + 6
    board = Picture(width, 12)
    for y in range(1, 10):
        for x in range(1, width - 1):
            board.put(x, y, shade((126, 82, 46), 0.85 + 0.25 * noise(x // 5, y // 2, 41)))
    for x in range(1, width - 1):
        board.put(x, 1, (176, 122, 72))
        board.put(x, 9, (86, 54, 34))
    for y in range(text.height):
        for x in range(text.width):
            if text.get(x, y):
                board.put(x + 3, y + 4, (70, 42, 28))
                board.put(x + 3, y + 3, text.get(x, y))
    board.outline(NIGHT)
    return board


LOGO_BLOCK = 7


def logo(figures):
    """The game's name, of crystals: each pixel of a letter is one, cut like a gem."""
    signs = [figures[f"big {letter}"] for letter in "GLIMMER"]
    columns = sum(sign.width + 1 for sign in signs) - 1
    picture = Picture(columns * LOGO_BLOCK + 6, 7 * LOGO_BLOCK + 8)
    left = 0
    for sign in signs:
        for row in range(sign.height):
            for column in range(sign.width):
                if not sign.get(column, row):
                    continue
                across = (left + column) / columns
                base = mix((70, 232, 255), (196, 110, 255), across)
                base = mix(base, (255, 255, 255), 0.28 * (1 - row / 6))
                crystal(picture, 3 + (left + column) * LOGO_BLOCK, 3 + row * LOGO_BLOCK, base)
        left += sign.width + 1
    for color in ((18, 30, 70), (18, 30, 70), (10, 12, 30)):
        picture.outline(color)
    return picture


def crystal(picture, left, top, base):
    last = LOGO_BLOCK - 1
    for y in range(LOGO_BLOCK):
        for x in range(LOGO_BLOCK):
            tone = 1.0
            if y == 0 or x == 0:
                tone = 1.25
            if y == last or x == last:
                tone = 0.62
            if x + y == last:
                tone = 1.14
            elif 0 < x < last and 0 < y < last:
                tone = 1.04 if x + y < last else 0.84
            tone *= 0.92 + 0.16 * noise(left + x, top + y, 51)
            picture.put(left + x, top + y, shade(base, tone))


def make_pictures():
    figures = read_figures()
    ground = Picture(16 * CELL, 4 * CELL)
    for closed in range(16):
        ground.paste(earth_tile(closed), closed * CELL, 0)
        ground.paste(ground_tile(grain_of_rock, closed), closed * CELL, CELL)
    for i in range(4):
        ground.paste(floor_tile(60 + i), i * CELL, 2 * CELL)
    gems = [gem(None)] + [gem(i / 4) for i in range(5)]
    bats = [figures[f"bat {i}"] for i in (1, 2, 3)]
    heroes = [figures[f"hero {name}"] for name in ("stand", "blink", "step 1", "step 2", "step 3")]
    marks = [heroes[0], boulder(), gems[0], bats[1], door(None)]
    for i, mark in enumerate(marks):
        ground.paste(mark, i * CELL, 3 * CELL)
    ground.save("maps/tiles.png")
    boulder().save("pictures/boulder.png")
    glow().save("pictures/glow.png")
    pixel = Picture(4, 4)
    for i in range(16):
        pixel.put(i % 4, i // 4, (255, 255, 255))
    pixel.save("pictures/pixel.png")
    figures["lamp"].save("pictures/lamp.png")
    figures["helmet"].save("pictures/helmet.png")
    logo(figures).save("pictures/logo.png")
    for language, word in (("", "EXIT"), (".de", "AUSGANG"), (".fr", "SORTIE"), (".el", "ΕΞΟΔΟΣ")):
        sign(figures, word).save(f"pictures/exit{language}.png")
    row_of(gems).save("sheets/gem.png")
    row_of(bats).save("sheets/bat.png")
    row_of(heroes).save("sheets/hero.png")
    row_of([door(None)] + [door(i / 3) for i in (0, 1, 2, 3)]).save("sheets/door.png")


# Maps ---------------------------------------------------------------------------------------------

MARKS = {"@": 1, "o": 2, "*": 3, "b": 4, "E": 5}
FIRST_FLOOR, FIRST_MARK, SOLID = 33, 49, 16


def read_caves():
    caves, cave = [], None
    with open(os.path.join(HERE, "art/caves.art"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("="):
                words = line[1:].split()
                cave = {"name": words[0], "rows": [], "settings": dict(
                    word.split("=") for word in words[1:])}
                caves.append(cave)
            elif line and not line.startswith("//"):
                cave["rows"].append(line)
    return caves


def tile_set():
    out = ['<tileset firstgid="1" name="tiles" tilewidth="16" tileheight="16" tilecount="64" '
           'columns="16">', ' <image source="tiles.png" width="256" height="64"/>']
    for row, kind in ((0, "earth"), (1, "rock")):
        for closed in range(16):
            out.append(f' <tile id="{row * 16 + closed}" type="{kind}"><properties><property '
                       f'name="closed" type="int" value="{closed}"/></properties></tile>')
    for i, kind in enumerate(("hero", "boulder", "gem", "bat", "door")):
        out.append(f' <tile id="{FIRST_MARK - 1 + i}" type="{kind}"/>')
    return out + ["</tileset>"]


def make_map(cave):
    rows, settings = cave["rows"], cave["settings"]
    width, height = len(rows[0]), len(rows)
    for row in rows:
        assert len(row) == width, f"{cave['name']}: '{row}' has {len(row)} cells, not {width}"
    kinds = {"gems": "int", "seconds": "int"}
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           f'<map version="1.10" orientation="orthogonal" renderorder="right-down" width="{width}" '
           f'height="{height}" tilewidth="{CELL}" tileheight="{CELL}" infinite="0">',
           "<properties>"]
    for key, value in settings.items():
        kind = f' type="{kinds[key]}"' if key in kinds else ""
        out.append(f' <property name="{key}"{kind} value="{value}"/>')
    out += ["</properties>"] + tile_set()

    def layer(number, name, tile):
        out.append(f'<layer id="{number}" name="{name}" width="{width}" height="{height}">')
        out.append('<data encoding="csv">')
        lines = [",".join(str(tile(x, y)) for x in range(width)) for y in range(height)]
        out.append(",\n".join(lines) + "\n</data>\n</layer>")

    layer(1, "floor", lambda x, y: FIRST_FLOOR + int(noise(x, y, 71) * 3.999))
    layer(2, "ground", lambda x, y: {".": SOLID, "#": 2 * SOLID}.get(rows[y][x], 0))
    layer(3, "things", lambda x, y: FIRST_MARK - 1 + MARKS[rows[y][x]] if rows[y][x] in MARKS else 0)
    out.append("</map>\n")
    with open(path(f"maps/{cave['name']}.tmx"), "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(out))


# Sounds -------------------------------------------------------------------------------------------

RATE = 22050


def sound(name, seconds, wave):
    """Writes a WAV; `wave` gives -1 to 1 for a second and the number of a sample."""
    count = int(seconds * RATE)
    samples = [wave(i / RATE, i) for i in range(count)]
    most = max(abs(sample) for sample in samples)
    # The last ten milliseconds fade out, so that nothing clicks.
    fade = lambda i: min(1, (count - i) / (0.01 * RATE))
    data = b"".join(
        struct.pack("<h", round(sample / most * 0.86 * fade(i) * 32767))
        for i, sample in enumerate(samples))
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1,
                       RATE, RATE * 2, 2, 16, b"data", len(data))
    with open(path(f"sounds/{name}.wav"), "wb") as file:
        file.write(head + data)


def tone(t, hertz, decay=0.0, shape=0.0):
    """A sine, with overtones by `shape`, that dies away."""
    turn = 2 * math.pi * hertz * t
    wave = math.sin(turn) + shape * math.sin(2 * turn) + shape * shape * math.sin(3 * turn)
    return wave * math.exp(-decay * t)


def grains(width, seed):
    """Noise that changes every `width` samples: the wider, the darker."""
    return lambda i: 2 * noise(i // width, i // (width * 997), seed) - 1


def make_sounds():
    for number, width in ((1, 3), (2, 5), (3, 4)):
        crumbs = grains(width, 80 + number)
        sound(f"dig_{number}", 0.09, lambda t, i: crumbs(i) * math.exp(-34 * t))
    sound("gem", 0.4, lambda t, i: tone(t, 1318.5, 9, 0.3) * (1 if t > 0.05 else t / 0.05)
          + 0.8 * tone(t, 1975.5, 11, 0.2) * (t > 0.06))
    low = grains(24, 90)
    sound("thud", 0.32, lambda t, i: tone(t, 92 - 90 * t, 11, 0.3) + 0.5 * low(i) * math.exp(-22 * t))
    stone = grains(9, 91)
    sound("push", 0.22, lambda t, i: stone(i) * math.sin(math.pi * t / 0.22)
          * (0.6 + 0.4 * math.sin(2 * math.pi * 31 * t)))
    rough = grains(6, 92)
    sound("die", 0.75, lambda t, i: tone(t, 440 - 460 * t, 3, 0.6) + 0.9 * rough(i) * math.exp(-9 * t))
    squeak = grains(4, 93)
    sound("crush", 0.3, lambda t, i: tone(t, 900 - 2200 * t, 10, 0.5) + 0.8 * squeak(i)
          * math.exp(-16 * t))
    notes = (523.25, 659.25, 783.99, 1046.5)

    def fanfare(t, _):
        return sum(tone(t - k * 0.09, note, 5, 0.25) for k, note in enumerate(notes) if t > k * 0.09)

    sound("open", 0.8, fanfare)
    sound("blip", 0.06, lambda t, i: tone(t, 880, 40, 0.4))
    # A kalimba: the tine, and the knock of the thumb.
    sound("pluck", 0.9, lambda t, i: tone(t, 440, 5.5) + 0.35 * tone(t, 440 * 5.4, 26)
          + 0.12 * tone(t, 880, 9))


if __name__ == "__main__":
    make_pictures()
    for each in read_caves():
        make_map(each)
    make_sounds()
