"""Makes the pictures of this game from nothing but numbers: the parts of the puppet and the frames of
the flame, each in one picture with a sheet.

Python's standard library is enough. The same numbers come out in every run. This file and the
pictures are under the licence of the engine (MIT or Apache-2.0).
"""

import json
import math
import os
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
INK = (38, 30, 44)


def png(width, height, texels):
    """An RGBA PNG of rows of texels."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)  # the row's filter: none
        for x in range(width):
            rows.extend(texels[y][x])
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data
        out += struct.pack(">I", zlib.crc32(kind + data))
    return out


# --- Shapes: distances in texels from their edge, negative inside. y is up. ----------------------


def capsule(x0, y0, r0, x1, y1, r1):
    def distance(x, y):
        dx, dy = x1 - x0, y1 - y0
        length = dx * dx + dy * dy
        t = 0 if length == 0 else max(0, min(1, ((x - x0) * dx + (y - y0) * dy) / length))
        return math.hypot(x - x0 - t * dx, y - y0 - t * dy) - (r0 + (r1 - r0) * t)

    return distance


def box(x0, y0, x1, y1, round_by):
    cx, cy, hx, hy = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2

    def distance(x, y):
        dx, dy = abs(x - cx) - hx + round_by, abs(y - cy) - hy + round_by
        outside = math.hypot(max(dx, 0), max(dy, 0))
        return outside + min(max(dx, dy), 0) - round_by

    return distance


def paint(width, height, shapes):
    """Rows of texels of shapes with a colour, each with a dark outline; later ones are in front."""
    rows = []
    for row in range(height):
        line = []
        for column in range(width):
            x, y = column + 0.5, height - row - 0.5
            r, g, b, a = 0.0, 0.0, 0.0, 0.0
            for distance, color, outline in shapes:
                d = distance(x, y)
                shade = 1 - 0.16 * max(0, min(1, (width * 0.5 - x) / width + 0.5))
                for reach, paint_color in ((outline, INK), (0, [c * shade for c in color])):
                    cover = max(0, min(1, 0.5 - (d - reach)))
                    if cover > 0:
                        r, g, b = (c * cover + o * (1 - cover) for c, o in zip(paint_color, (r, g, b)))
                        a = cover + a * (1 - cover)
            line.append((round(r / a) if a else 0, round(g / a) if a else 0, round(b / a) if a else 0,
                         round(a * 255)))
        rows.append(line)
    return rows


def limb(width, height, color, tip, tip_color):
    """A limb that hangs from its top."""
    x = width / 2
    shapes = [(capsule(x, height - x, x - 3, x, tip, x - 4), color, 2)]
    if tip_color:
        shapes.append((capsule(x, tip - 1, x - 3.5, x, tip - 2, x - 3.5), tip_color, 2))
    return width, height, shapes


def shin(color, boot):
    return 42, 64, [
        (capsule(15, 47, 11, 15, 16, 8), color, 2),
        (capsule(15, 12, 9, 27, 9, 7), boot, 2),
    ]


def torso(color, belt, mail):
    shapes = [(capsule(32, 52, 24, 32, 20, 19), color, 2), (box(11, 10, 53, 19, 4), belt, 2)]
    if mail:
        shapes += [(box(14, y, 50, y + 3, 1), mail, 0) for y in range(30, 66, 8)]
    return 64, 80, shapes


def head(skin, hair, helmet):
    shapes = [(capsule(32, 30, 24, 32, 34, 24), skin, 2)]
    if helmet:
        shapes += [
            (capsule(32, 38, 26, 32, 42, 24), helmet, 2), (box(34, 24, 58, 38, 4), skin, 1),
            (box(28, 62, 38, 78, 4), (196, 62, 62), 2),
        ]
    else:
        shapes += [(capsule(20, 46, 16, 38, 52, 13), hair, 2), (capsule(14, 36, 8, 16, 26, 5), hair, 1)]
    shapes.append((capsule(46, 32, 3, 46, 35, 3), INK, 0))
    return 64, 80, shapes


def cape(color):
    return 56, 104, [(box(6, 4, 50, 100, 14), color, 2), (box(12, 4, 20, 70, 4), [c * 0.86 for c in color], 0)]


def sword():
    return 28, 112, [
        (box(10, 30, 18, 108, 4), (206, 216, 228), 2), (box(2, 24, 26, 31, 3), (198, 160, 70), 2),
        (box(10, 4, 18, 25, 3), (104, 66, 46), 2),
    ]


def axe():
    return 68, 114, [
        (box(26, 4, 34, 108, 3), (118, 80, 52), 2),
        (capsule(42, 84, 16, 46, 92, 15), (170, 180, 192), 2),
        (box(22, 72, 36, 104, 4), (120, 128, 140), 2),
    ]


PARTS = {
    "head": head((238, 196, 160), (120, 72, 44), None),
    "head_knight": head((238, 196, 160), None, (150, 162, 178)),
    "torso": torso((86, 132, 92), (104, 66, 46), None),
    "torso_knight": torso((150, 162, 178), (66, 74, 104), (120, 130, 148)),
    "upper_arm": limb(30, 52, (86, 132, 92), 14, None),
    "upper_arm_knight": limb(30, 52, (150, 162, 178), 14, None),
    "lower_arm": limb(26, 54, (238, 196, 160), 16, (238, 196, 160)),
    "lower_arm_knight": limb(26, 54, (120, 130, 148), 16, (104, 66, 46)),
    "thigh": limb(34, 60, (94, 82, 110), 14, None),
    "thigh_knight": limb(34, 60, (120, 130, 148), 14, None),
    "shin": shin((94, 82, 110), (104, 66, 46)),
    "shin_knight": shin((150, 162, 178), (66, 74, 104)),
    "cape": cape((176, 60, 58)),
    "cape_knight": cape((66, 92, 168)),
    "sword": sword(),
    "axe": axe(),
}


def flame(phase):
    def shape(size, rise):
        sway = math.sin(phase * math.tau) * 3
        tip = 16 + sway + math.sin(phase * math.tau * 2) * 2
        return capsule(16, 82, size, tip, 82 + rise, 1.5)

    pulse = math.cos(phase * math.tau) * 2
    return 32, 124, [
        (box(13, 0, 19, 78, 2), (118, 80, 52), 2), (box(11, 62, 21, 80, 3), (84, 60, 48), 2),
        (shape(10, 30 + pulse), (232, 98, 42), 0), (shape(7, 21 + pulse), (250, 176, 58), 0),
        (shape(4, 12 + pulse), (255, 240, 180), 0),
    ]


def write_sheet(name, parts, milliseconds, tags):
    """Writes the pictures into one row, and the sheet that names them."""
    width = sum(w + 2 for w, _, _ in parts.values())
    height = max(h for _, h, _ in parts.values())
    texels = [[(0, 0, 0, 0)] * width for _ in range(height)]
    frames, left = [], 0
    for part, (w, h, shapes) in parts.items():
        for y, row in enumerate(paint(w, h, shapes)):
            texels[y][left:left + w] = row
        frame = {"x": left, "y": 0, "w": w, "h": h}
        frames.append({"filename": part, "frame": frame, "duration": milliseconds})
        left += w + 2
    folder = os.path.join(HERE, "sheets")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".png"), "wb") as file:
        file.write(png(width, height, texels))
    sheet = {"frames": frames, "meta": {"image": name + ".png", "frameTags": tags}}
    with open(os.path.join(folder, name + ".sheet"), "w") as file:
        json.dump(sheet, file, indent=1)
        file.write("\n")


write_sheet("puppet", PARTS, 100, [])
write_sheet("flame", {str(i + 1): flame(i / 6) for i in range(6)}, 90,
            [{"name": "burn", "from": 0, "to": 5, "direction": "forward"}])


def ground(width=512, height=128):
    """A strip of grass: its upper edge is uneven."""
    rows = []
    for row in range(height):
        line = []
        for x in range(width):
            wave = math.sin(x * math.tau / width * 7) * 2 + math.sin(x * math.tau / width * 31) * 3
            depth = row - 14 - wave
            cover = max(0, min(1, depth + 0.5))
            shade = 1 - 0.5 * max(0, depth) / height
            line.append((round(92 * shade), round(138 * shade), round(84 * shade), round(255 * cover)))
        rows.append(line)
    return png(width, height, rows)


with open(os.path.join(HERE, "sheets", "ground.png"), "wb") as file:
    file.write(ground())
