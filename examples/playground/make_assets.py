#!/usr/bin/env python3
"""Makes models/*.glb and sounds/*.wav of this example from nothing but numbers.

    python3 make_assets.py

Python's standard library is enough. The same numbers come out in every run. Lengths are metres with
z up, as in the engine; Glb turns them into glTF's y up.
"""

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(HERE))
from asset_writer import (
    Glb, Mesh, add, arc, blow, box, lathe, material, partials, quad, shader,
)


def file_of(name):
    return os.path.join(HERE, name)


# --- Materials ------------------------------------------------------------------------------------

MATERIALS = {
    "Tiles": material("#b9aa94", 0.55, picture="tiles"),
    "Concrete": material("#cfc3b2", 0.9, picture="panels"),
    "Band": material("#2c5f66", 0.6, picture="panels"),
    "Oak": material("#b07a45", 0.7, picture="planks"),
    "Steel": material("#39424d", 0.45, 0.6),
    "Lamp": material("#ffd9a0", 1.0, emissive=6.0),
    "Wood": material("#a8652f", 0.7, picture="planks"),
    "Hoops": material("#3c3a38", 0.4, 0.9),
    "Paint": material("#f2f2f2", 0.35),
    "Shell": material("#f0ebe2", 0.3),
    "Dark": material("#20242b", 0.35),
    "Stripe": material("#f08a2c", 0.4),
    "Eye": material("#4fe3ff", 1.0, emissive=3.0),
}


# --- The hall ------------------------------------------------------------------------------------

HALF_X, HALF_Y, HEIGHT = 12.0, 9.0, 5.0
GALLERY = 2.4  # the height of its floor
BAND = 1.2  # how high the walls are painted
BEAMS = (-7.0, -1.0, 5.0, 11.0)


def solids():
    """The boxes of each part: (material, metres of texture, faces that can be seen, low, high)."""
    x, y, z = HALF_X, HALF_Y, HEIGHT
    stairs = [("Oak", 1.0, "xXyYZ" if i == 0 else "XyYZ", (4 + 0.3 * i, 6.4, 0),
               (4.3 + 0.3 * i, 8.6, GALLERY - 0.2 * i)) for i in range(12)]
    posts = [(px, py) for px in BEAMS[:3] for py in (-8.6, 5.8)] + [(11.0, -8.6), (11.0, 8.6)]
    uprights = [("Steel", 1.0, "xXyY", (px - 0.14, py - 0.14, 0), (px + 0.14, py + 0.14, z - 0.5))
                for px, py in posts]
    beams = [("Steel", 1.0, "xXzZ", (px - 0.16, -y, z - 0.5), (px + 0.16, y, z - 0.1))
             for px in BEAMS]
    return {
        "Floor": [("Tiles", 2.0, "Z", (-x, -y, -1), (x, y, 0))],
        "Walls": [
            ("Concrete", 2.0, "yZ", (-x - 0.4, y, BAND), (x + 0.4, y + 0.4, z)),
            ("Concrete", 2.0, "YZ", (-x - 0.4, -y - 0.4, BAND), (x + 0.4, -y, z)),
            ("Concrete", 2.0, "XZ", (-x - 0.4, -y, BAND), (-x, y, z)),
            ("Concrete", 2.0, "xZ", (x, -y, BAND), (x + 0.4, y, z)),
            ("Band", 2.0, "y", (-x - 0.4, y, 0), (x + 0.4, y + 0.4, BAND)),
            ("Band", 2.0, "Y", (-x - 0.4, -y - 0.4, 0), (x + 0.4, -y, BAND)),
            ("Band", 2.0, "X", (-x - 0.4, -y, 0), (-x, y, BAND)),
            ("Band", 2.0, "x", (x, -y, 0), (x + 0.4, y, BAND)),
        ],
        "Plinth": [
            ("Concrete", 2.0, "xXyYZ", (4.2, -5.4, 0), (9.6, -1.2, 0.2)),
            ("Concrete", 2.0, "xXyYZ", (4.8, -4.8, 0.2), (9.0, -1.8, 0.4)),
        ],
        "Gallery": [("Oak", 1.0, "XyzZ", (-x, 6.0, GALLERY - 0.25), (4.0, y, GALLERY))],
        "Stairs": stairs,
        "Steel": uprights + beams,
    }


def ramp(mesh, shade):
    """From the gallery's left end down to the floor: the six corners of its solid."""
    x, X, y, Y, top = -HALF_X, -9.4, -0.6, 6.0, GALLERY
    quad(mesh, "Oak", (x, y, 0.0), (X - x, 0, 0), (0, Y - y, top), 1.0, shade)
    side = [(X, y, 0.0), (X, Y, 0.0), (X, Y, top)]
    rows = [[(p, (1.0, 0.0, 0.0), (p[1], p[2]), 0.75) for p in row]
            for row in ((side[0], side[1]), (side[0], side[2]))]
    mesh.grid("Oak", rows)
    return [[a, b, c] for a in (x, X) for b, c in ((y, 0.0), (Y, 0.0), (Y, top))]


def hall():
    glb = Glb(MATERIALS)
    parts = solids()
    boxes = [(low, high) for part in parts.values() for _, _, _, low, high in part]
    steps = [((-12.0, -0.6 + 1.1 * i, 0), (-9.4, 6.0, 0.4 * i)) for i in range(1, 6)]
    shade = shader(boxes + steps)
    stuff = {"Floor": "stone", "Walls": "stone", "Plinth": "stone", "Steel": "steel"}
    for name, part in parts.items():
        mesh, shapes = Mesh(), []
        for look, metres, faces, low, high in part:
            box(mesh, look, low, high, metres, shade, faces)
            size = [round(b - a, 4) for a, b in zip(low, high)]
            middle = [round((a + b) / 2, 4) for a, b in zip(low, high)]
            shapes.append({"shape": "box", "size": size, "position": middle})
        body = {"type": "static", "filter": "level", "shapes": shapes}
        body["material"] = stuff.get(name, "wood")
        # The engine makes an actor of a node that has the extra value `physics`.
        glb.top(glb.node(name, mesh, extras={"physics": body}))
    mesh = Mesh()
    points = ramp(mesh, shade)
    body = {"type": "static", "filter": "level", "material": "wood", "shape": "convex"}
    glb.top(glb.node("Ramp", mesh, extras={"physics": {**body, "points": points}}))
    lamps = [(-7.0, -2.0, 3.4), (-1.0, 1.5, 3.4), (5.0, -2.0, 3.4)]
    mesh = Mesh()
    lathe(mesh, [("Lamp", arc(0.14, 0.0, -90, 20, 5)), ("Dark", [(0.16, 0.03), (0.02, 0.2)]),
                 ("Dark", [(0.015, 0.2), (0.015, 1.2)])], 12)
    bulb = glb.mesh("Bulb", mesh)
    for number, place in enumerate(lamps, 1):
        glb.top(glb.node(f"Bulb {number}", bulb, place))
        glb.lamp(f"Lamp {number}", add(place, (0, 0, -0.25)), "#ffb066", 6.0, 10.0)
    glb.lamp("Below the gallery", (-3.0, 7.4, 1.8), "#ff9a4a", 5.0, 8.0)
    glb.write(file_of("models/hall.glb"))


# --- Barrels and the walker ----------------------------------------------------------------------


def barrel():
    """Staves and four hoops; its middle is the origin, as the physics has it."""
    half, bulge = 0.45, lambda z: 0.37 - 0.055 * (z / 0.45) ** 2
    sides = [(bulge(z), z) for z in [half * (i / 3 - 1) for i in range(7)]]
    lid = bulge(half)
    mesh = Mesh()
    lathe(mesh, [("Wood", [(0.0, -half), (lid, -half)]), ("Wood", sides),
                 ("Wood", [(lid, half), (lid - 0.03, half)]),
                 ("Wood", [(lid - 0.03, half), (lid - 0.03, half - 0.04)]),
                 ("Wood", [(lid - 0.03, half - 0.04), (0.0, half - 0.04)])], turns=2.0)
    for low, high in ((-0.43, -0.36), (-0.2, -0.14), (0.14, 0.2), (0.36, 0.43)):
        lathe(mesh, [("Hoops", [(bulge(low), low), (bulge(low) + 0.01, low + 0.01),
                                (bulge(high) + 0.01, high - 0.01), (bulge(high), high)])])
    glb = Glb(MATERIALS)
    glb.top(glb.node("Barrel", mesh))
    glb.write(file_of("models/barrel.glb"))


def drum():
    """A steel drum: two ribs, a rim, and a lid that lies a little deeper."""
    half, r = 0.45, 0.32
    ribs = [[(r, z - 0.035), (r + 0.022, z - 0.01), (r + 0.022, z + 0.01), (r, z + 0.035)]
            for z in (-0.15, 0.15)]
    edges = [(r, 0.035 - half), *ribs[0], *ribs[1], (r, half - 0.035)]
    sides = [("Paint", list(pair)) for pair in zip(edges, edges[1:])]
    rim = [(r, half - 0.035), (r + 0.01, half - 0.02), (r - 0.01, half), (r - 0.035, half)]
    mesh = Mesh()
    lathe(mesh, [("Paint", [(0.0, -half), (r - 0.01, -half)]), *sides,
                 ("Hoops", [(r - 0.01, -half), (r + 0.01, 0.02 - half), (r, 0.035 - half)]),
                 ("Hoops", rim), ("Paint", [(r - 0.035, half), (r - 0.035, half - 0.03)]),
                 ("Paint", [(r - 0.035, half - 0.03), (0.0, half - 0.03)])])
    glb = Glb(MATERIALS)
    glb.top(glb.node("Drum", mesh))
    glb.write(file_of("models/drum.glb"))


def walker():
    """A robot on a ball, which is a node of its own, so that it can roll. It looks along y."""
    ball, body, head = Mesh(), Mesh(), Mesh()
    bands = [("Dark", -90, -20), ("Stripe", -20, 20), ("Dark", 20, 90)]
    lathe(ball, [(look, arc(0.3, 0.0, low, high, 5)) for look, low, high in bands])
    lathe(body, [("Dark", [(0.2, 0.44), (0.29, 0.5)]),
                 ("Shell", [(0.29, 0.5), (0.31, 0.62), (0.29, 0.82), (0.22, 1.0)]),
                 ("Stripe", [(0.22, 1.0), (0.2, 1.04)]), ("Dark", [(0.14, 1.04), (0.12, 1.1)])])
    lathe(head, [("Shell", [(0.0, -0.14), (0.2, -0.12)]), ("Shell", arc(0.26, 0.0, -28, 90, 8)),
                 ("Dark", [(0.012, 0.25), (0.012, 0.42)]), ("Eye", arc(0.035, 0.44, -90, 90, 4))])
    eye = [[((0.265 * math.sin(a) * math.cos(b), 0.265 * math.cos(a) * math.cos(b),
              0.265 * math.sin(b)), (math.sin(a), math.cos(a), 0.0), (0.0, 0.0), 1.0)
            for a in (math.radians(d) for d in range(50, -51, -10))]
           for b in (math.radians(d) for d in (0, 9, 18))]
    head.grid("Eye", eye)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Ball", ball, (0, 0, 0.3)), glb.node("Body", body),
            glb.node("Head", head, (0, 0, 1.24)))
    glb.write(file_of("models/walker.glb"))


# --- Sounds --------------------------------------------------------------------------------------


def sounds():
    hit = lambda name, *sound: blow(file_of(f"sounds/{name}.wav"), *sound)
    hollow, plate = (1, 2.32, 3.86, 5.1), (1, 1.51, 1.99, 2.74, 3.36, 4.22, 5.4)
    hit("wood_1", 0.26, 1, partials(168, hollow, 0.22), (1.4, 0.05, 0.6), 0.5)
    hit("wood_2", 0.26, 2, partials(189, hollow, 0.2), (1.6, 0.04, 0.5), 0.5)
    hit("wood_crash", 0.42, 3, partials(121, hollow, 0.3), (3.0, 0.3, 0.45), 0.6)
    hit("steel_1", 0.6, 4, partials(231, plate, 0.7), (0.8, 0.03, 0.2))
    hit("steel_2", 0.6, 5, partials(262, plate, 0.6), (0.9, 0.03, 0.2))
    hit("steel_crash", 0.8, 6, partials(149, plate, 0.9), (2.0, 0.25, 0.15), 0.2)
    hit("stone", 0.16, 7, [(92, 1.0, 0.1), (210, 0.3, 0.05)], (1.6, 0.06, 0.75), 0.8)
    hit("jump", 0.22, 8, [(330, 0.6, 0.2), (495, 0.3, 0.16)], (0.2, 0.1, 0.6), -0.8)


if __name__ == "__main__":
    for make in (hall, barrel, drum, walker, sounds):
        make()
