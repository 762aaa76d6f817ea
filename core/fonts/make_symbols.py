#!/usr/bin/env python3
"""Draws symbols.ttf: arrows and plain shapes, to which the engine's default font falls back. Needs
fontTools, and writes the same file everywhere. The drawings are the project's own, under its licence.

    python3 core/fonts/make_symbols.py
"""

import math
import os

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

EM, ASCENT, DESCENT = 1000, 1069, -293  # as the default font has them
MIDDLE = 340  # the height of a symbol's middle above the baseline
THICK = 84
WIDTH = 900


def turned(points, degrees):
    """About the middle of a glyph, against the clock."""
    sin, cos = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]


def area(points):
    following = points[1:] + points[:1]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, following))


def arrow(reach=360, head=190):
    half, neck = THICK / 2, reach - head * 0.55
    return [(-reach, -half), (neck - half, -half), (neck - head * 0.62, -head), (neck - head * 0.1, -head),
            (reach, 0), (neck - head * 0.1, head), (neck - head * 0.62, head), (neck - half, half),
            (-reach, half)]


def two_headed(reach=400, head=190):
    right = [(x, y) for x, y in arrow(reach, head) if x > -reach]
    return right + [(-x, -y) for x, y in right]


def bar(x, y, width, height):
    return [(x - width / 2, y - height / 2), (x + width / 2, y - height / 2),
            (x + width / 2, y + height / 2), (x - width / 2, y + height / 2)]


def polygon(sides, radius, first=90):
    at = [math.radians(first + 360 * i / sides) for i in range(sides)]
    return [(radius * math.cos(a), radius * math.sin(a)) for a in at]


def star(radius=400, inner=160):
    outside, inside = polygon(5, radius), polygon(5, inner, 126)
    return [point for pair in zip(outside, inside) for point in pair]


def circle(radius):
    return polygon(64, radius)


def heart():
    at = [2 * math.pi * i / 64 for i in range(64)]
    return [(22 * 16 * math.sin(a) ** 3,
             22 * (13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a)) + 50)
            for a in at]


def stroke(points, thick=THICK):
    """A broken line as one outline, with mitred corners."""
    def side(way):
        out = []
        for i, (x, y) in enumerate(points):
            before, after = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
            legs = [(q[0] - p[0], q[1] - p[1]) for p, q in ((before, (x, y)), ((x, y), after)) if p != q]
            normals = [(-dy / math.hypot(dx, dy), dx / math.hypot(dx, dy)) for dx, dy in legs]
            nx, ny = sum(n[0] for n in normals), sum(n[1] for n in normals)
            scale = way * thick / 2 * len(normals) / (nx * nx + ny * ny) * 1.0
            out.append((x + nx * scale, y + ny * scale))
        return out
    return side(1) + side(-1)[::-1]


def plus(reach, thick):
    half = thick / 2
    return [(half, half), (half, reach), (-half, reach), (-half, half), (-reach, half), (-reach, -half),
            (-half, -half), (-half, -reach), (half, -reach), (half, -half), (reach, -half), (reach, half)]


def hollow(points, share=0.76):
    """With a hole of the same form about the middle of its corners."""
    x, y = (sum(point[axis] for point in points) / len(points) for axis in (0, 1))
    return [points, [(x + (u - x) * share, y + (v - y) * share) for u, v in points][::-1]]


TRIANGLE = [(-340, -330), (340, -330), (0, 330)]
SQUARE, DIAMOND = bar(0, 0, 620, 620), polygon(4, 420)

# For each character its outlines, around the middle; an outline the other way round is a hole.
SYMBOLS = {
    "→": [arrow()], "↑": [turned(arrow(), 90)], "←": [turned(arrow(), 180)], "↓": [turned(arrow(), 270)],
    "↔": [two_headed()], "↕": [turned(two_headed(), 90)],
    "↗": [turned(arrow(), 45)], "↖": [turned(arrow(), 135)], "↙": [turned(arrow(), 225)],
    "↘": [turned(arrow(), 315)],
    "↵": [stroke([(320, 300), (320, -120), (-160, -120)]), [(-380, -120), (-140, 80), (-140, -320)]],
    "⇥": [[(x * 0.86 - 50, y) for x, y in arrow()], bar(330, 0, THICK, 420)],
    "▲": [TRIANGLE], "◀": [turned(TRIANGLE, 90)], "▼": [turned(TRIANGLE, 180)],
    "▶": [turned(TRIANGLE, 270)],
    "△": hollow(TRIANGLE, 0.56), "◁": hollow(turned(TRIANGLE, 90), 0.56),
    "▽": hollow(turned(TRIANGLE, 180), 0.56), "▷": hollow(turned(TRIANGLE, 270), 0.56),
    "■": [SQUARE], "□": hollow(SQUARE), "◆": [DIAMOND], "◇": hollow(DIAMOND),
    "●": [circle(340)], "○": hollow(circle(340)), "★": [star()], "☆": hollow(star(), 0.6),
    "♥": [heart()], "♦": [[(x * 0.75, y) for x, y in polygon(4, 400)]],
    "✓": [stroke([(-340, 0), (-110, -240), (340, 300)], 100)],
    "✕": [turned(plus(420, THICK), 45)],
    "█": [[(-450, DESCENT - MIDDLE), (450, DESCENT - MIDDLE), (450, ASCENT - MIDDLE),
           (-450, ASCENT - MIDDLE)]],
}


def glyph(outlines):
    pen = TTGlyphPen(None)
    for number, points in enumerate(outlines):
        # Outlines go with the clock and holes against it, as TrueType has it.
        hole = number == 1 and area(outlines[0]) * area(points) < 0
        if (area(points) > 0) != hole:
            points = points[::-1]
        placed = [(round(x + WIDTH / 2), round(y + MIDDLE)) for x, y in points]
        pen.moveTo(placed[0])
        for point in placed[1:]:
            pen.lineTo(point)
        pen.closePath()
    return pen.glyph()


def main():
    names = {character: f"uni{ord(character):04X}" for character in SYMBOLS}
    glyphs = {".notdef": TTGlyphPen(None).glyph()}
    glyphs.update((names[character], glyph(outlines)) for character, outlines in SYMBOLS.items())
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(list(glyphs))
    font.setupCharacterMap({ord(character): name for character, name in names.items()})
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({name: (WIDTH, font.font["glyf"][name].xMin if name != ".notdef" else 0)
                                 for name in glyphs})
    font.setupHorizontalHeader(ascent=ASCENT, descent=DESCENT)
    font.setupNameTable({"familyName": "Engine Symbols", "styleName": "Regular"})
    font.setupOS2(sTypoAscender=ASCENT, sTypoDescender=DESCENT, usWinAscent=ASCENT, usWinDescent=-DESCENT)
    font.setupPost(keepGlyphNames=False)
    font.font["head"].created = font.font["head"].modified = 0
    font.font.recalcTimestamp = False
    font.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "symbols.ttf"))


if __name__ == "__main__":
    main()
