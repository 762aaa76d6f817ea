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
    "Gold": material("#e8b23a", 0.3, 0.8, emissive=0.4),
    "Mark": material("#fff3d0", 0.6, emissive=1.2),
    "Alarm": material("#ff3b1f", 0.5, emissive=4.0),
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


# --- Objects with graphs -------------------------------------------------------------------------

OPEN = lambda place, normal: 1.0  # nothing is near that takes light away


def block(look, low, high, metres=1.0):
    mesh = Mesh()
    box(mesh, look, low, high, metres, OPEN)
    return mesh


def marks(mesh, number, place, across):
    """A row of `number` dots around a place: the sign of a plate, and the code beside the door."""
    for dot in range(number):
        shift = 0.16 * (dot - (number - 1) / 2)
        middle = [p + shift * a for p, a in zip(place, across)]
        low, high = [m - 0.05 for m in middle], [m + 0.05 for m in middle]
        box(mesh, "Mark", low, high, 1.0, OPEN)


def lamp():
    """A lamp on a post, whole and broken: the graph shows one of its two heads."""
    post, whole, broken = Mesh(), Mesh(), Mesh()
    lathe(post, [("Steel", [(0.26, 0.0), (0.26, 0.05), (0.06, 0.1)]),
                 ("Steel", [(0.05, 0.1), (0.05, 1.75)]),
                 ("Dark", [(0.05, 1.75), (0.13, 1.82), (0.13, 1.86), (0.0, 1.86)])])
    lathe(whole, [("Lamp", arc(0.2, 2.03, -70, 90, 8))])
    # A rim of splinters: points of different heights around a ring.
    rows = [[], []]
    for i in range(25):
        angle, high = math.tau * i / 24, 0.04 + 0.11 * (i * 7 % 5) / 4
        c, d = math.cos(angle), math.sin(angle)
        rows[0].append(((0.12 * c, 0.12 * d, 1.86), (c, d, 0.0), (i / 6, 0.0), 1.0))
        rows[1].append(((0.17 * c, 0.17 * d, 1.86 + high), (c, d, 0.0), (i / 6, 1.0), 0.8))
    broken.grid("Dark", rows)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Post", post), glb.node("Glass", whole), glb.node("Splinters", broken))
    glb.lamp("Light", (0, 0, 2.05), "#ffc98a", 4.0, 8.0)
    glb.write(file_of("models/lamp.glb"))


def lever():
    """A lever on a box; its handle turns about x."""
    foot, handle = block("Steel", (-0.25, -0.2, 0), (0.25, 0.2, 0.7)), Mesh()
    box(foot, "Dark", (-0.06, -0.16, 0.7), (0.06, 0.16, 0.72), 1.0, OPEN)
    lathe(handle, [("Steel", [(0.03, 0.0), (0.03, 0.5)]), ("Stripe", arc(0.08, 0.56, -80, 90, 6))])
    glb = Glb(MATERIALS)
    glb.top(glb.node("Foot", foot), glb.node("Handle", handle, (0, 0, 0.65)))
    glb.write(file_of("models/lever.glb"))


def lift():
    """A platform on a column that is long enough for the gallery."""
    plate = block("Oak", (-0.9, -0.9, -0.12), (0.9, 0.9, 0.0))
    for low, high in (((-0.92, -0.92, -0.14), (0.92, -0.84, 0.01)),
                      ((-0.92, 0.84, -0.14), (0.92, 0.92, 0.01))):
        box(plate, "Stripe", low, high, 1.0, OPEN)
    box(plate, "Steel", (-0.12, -0.12, -GALLERY), (0.12, 0.12, -0.12), 1.0, OPEN)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Platform", plate, (0, 0, 0.12)))
    glb.write(file_of("models/lift.glb"))


def vault():
    """Two walls that make a room of the hall's left front corner, with a gap for the door. The
    origin is the corner of the hall; above the gap is the code."""
    boxes = [((0.0, 3.2, 0.0), (3.5, 3.5, 2.5)), ((3.2, 0.0, 0.0), (3.5, 0.7, 2.5)),
             ((3.2, 2.3, 0.0), (3.5, 3.2, 2.5)), ((3.2, 0.7, 2.1), (3.5, 2.3, 2.5))]
    mesh, shapes = Mesh(), []
    shade = shader(boxes + [((-1, -1, -1), (20, 20, 0))])
    for low, high in boxes:
        box(mesh, "Concrete", low, high, 2.0, shade)
        shapes.append({"shape": "box", "size": [round(b - a, 4) for a, b in zip(low, high)],
                       "position": [round((a + b) / 2, 4) for a, b in zip(low, high)]})
    for column, number in enumerate((2, 3, 1)):
        marks(mesh, number, (3.5, 0.95 + 0.55 * column, 2.3), (0, 1, 0))
    body = {"type": "static", "filter": "level", "material": "stone", "shapes": shapes}
    glb = Glb(MATERIALS)
    glb.top(glb.node("Vault", mesh, extras={"physics": body}))
    glb.write(file_of("models/vault.glb"))


def door():
    slab = block("Steel", (-0.06, -0.8, 0.0), (0.06, 0.8, 2.1))
    for low in (0.3, 1.6):
        box(slab, "Stripe", (-0.07, -0.78, low), (0.07, 0.78, low + 0.12), 1.0, OPEN)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Slab", slab))
    glb.write(file_of("models/door.glb"))


def plate(number):
    """A plate in the floor with its number as dots."""
    mesh = block("Steel", (-0.45, -0.45, 0.0), (0.45, 0.45, 0.06))
    marks(mesh, number, (0.0, 0.0, 0.03), (0, 1, 0))
    rim = block("Lamp", (-0.5, -0.5, 0.0), (0.5, 0.5, 0.02))
    glb = Glb(MATERIALS)
    glb.top(glb.node("Plate", mesh), glb.node("Rim", rim))
    glb.write(file_of(f"models/plate_{number}.glb"))


def crate():
    mesh = block("Oak", (-0.3, -0.3, -0.3), (0.3, 0.3, 0.3), 0.6)
    for side in (-0.31, 0.25):
        for other in (-0.31, 0.25):
            box(mesh, "Wood", (side, other, -0.31), (side + 0.06, other + 0.06, 0.31), 1.0, OPEN)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Crate", mesh))
    glb.write(file_of("models/crate.glb"))
    glb = Glb(MATERIALS)
    glb.top(glb.node("Plank", block("Oak", (-0.3, -0.06, -0.02), (0.3, 0.06, 0.02), 0.6)))
    glb.write(file_of("models/plank.glb"))


def trap():
    """A hatch below the roof with a warning lamp."""
    mesh, lens = block("Steel", (-0.8, -0.8, 0.0), (0.8, 0.8, 0.3)), Mesh()
    lathe(lens, [("Alarm", arc(0.16, 0.0, -90, 10, 6))])
    glb = Glb(MATERIALS)
    glb.top(glb.node("Hatch", mesh), glb.node("Lens", lens))
    glb.lamp("Warning", (0, 0, -0.4), "#ff3b1f", 6.0, 9.0)
    glb.write(file_of("models/trap.glb"))


def trophy():
    mesh = Mesh()
    lathe(mesh, [("Dark", [(0.0, 0.0), (0.16, 0.0), (0.16, 0.08), (0.05, 0.12)]),
                 ("Gold", [(0.03, 0.12), (0.03, 0.22), (0.18, 0.36), (0.2, 0.52), (0.17, 0.52)]),
                 ("Gold", [(0.17, 0.52), (0.15, 0.38), (0.0, 0.3)])])
    glb = Glb(MATERIALS)
    glb.top(glb.node("Trophy", mesh))
    glb.write(file_of("models/trophy.glb"))


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
    hit("glass", 0.7, 9, partials(2100, (1, 1.31, 1.77, 2.45, 3.1), 0.4), (2.2, 0.12, 0.1))
    hit("click", 0.12, 10, [(640, 0.6, 0.05), (1220, 0.3, 0.03)], (1.0, 0.02, 0.3))
    hit("chime", 1.2, 11, partials(660, (1, 1.5, 2, 2.5, 3), 1.0), (0.05, 0.02, 0.5))
    hit("jump", 0.22, 8, [(330, 0.6, 0.2), (495, 0.3, 0.16)], (0.2, 0.1, 0.6), -0.8)


if __name__ == "__main__":
    for make in (hall, barrel, drum, walker, lamp, lever, lift, vault, door, crate, trap, trophy):
        make()
    for number in (1, 2, 3):
        plate(number)
    sounds()
