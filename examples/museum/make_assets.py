#!/usr/bin/env python3
"""Makes models/*.glb of this example from nothing but numbers.

    python3 make_assets.py

Python's standard library is enough. The same numbers come out in every run. Lengths are metres with
z up, as in the engine; Glb turns them into glTF's y up.
"""

import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(HERE))
from asset_writer import Glb, Mesh, add, arc, box, lathe, material, shader


def file_of(name):
    return os.path.join(HERE, name)


MATERIALS = {
    "Tiles": material("#c9bfae", 0.6, picture="tiles"),
    "Paving": material("#8f8a80", 0.9, picture="panels"),
    "Oak": material("#b98a56", 0.65, picture="planks"),
    "Plaster": material("#e9e2d4", 0.9, picture="panels"),
    "Rail": material("#3a4650", 0.4, 0.5),
    "Stone": material("#d8d2c6", 0.8),
    "Bronze": material("#9a6b3a", 0.4, 0.8),
    "Copper": material("#3f8f7c", 0.55, 0.4),
    "Marble": material("#f4f1ea", 0.35),
    "Coral": material("#d2573c", 0.5),
    "Door": material("#7c4a2a", 0.6, picture="planks"),
    "Lift": material("#4b5b68", 0.4, 0.6),
    "Mark": material("#ffd27a", 0.6, emissive=1.5),
    "Skin": material("#d9a987", 0.7),
    "Hair": material("#3b2a20", 0.8),
    "Coat": material("#f2f2f2", 0.8),
    "Shoes": material("#2c2a2a", 0.7),
}

# --- The building: also in museum.lua, where they are the same numbers ---------------------------

HALF_X, HALF_Y, YARD = 22.0, 14.0, 26.0  # the walls, and how far south the yard goes
UPPER = 3.6  # the height of the upper floor
EDGE_X, EDGE_Y = 14.0, 2.0  # the hall is open to the sky between them
STAIRS = (-5.2, 5.2)  # the middles of the flights
STEP, TREAD, WIDE = 0.2, 0.4, 4.2
ENTRANCES, DOORS, GAP = (-8.0, 8.0), (-10.5, 10.5), 4.0
SHAFT = 1.25  # half of the width of the lift


def pieces(low, high, gaps):
    """The parts of an edge between gaps (middle, width)."""
    start = low
    for middle, width in sorted(gaps):
        yield start, middle - width / 2
        start = middle + width / 2
    yield start, high


def exhibits():
    """The places of the pedestals: on the ground, in the rooms behind the hall, on the gallery."""
    hall = [(x, y, 0) for y in (-10.5, -7.0) for x in (-12.0, -4.0, 4.0, 12.0)]
    rooms = [(x, y, 0) for y in (5.5, 10.5) for x in (-17.5, -10.0, -3.5, 3.5, 10.0, 17.5)]
    upper = [(x, y, UPPER) for y in (6.0, 10.8) for x in (-11.5, -4.2, 4.2, 11.5)]
    sides = [(x, y, UPPER) for x in (-18.0, 18.0) for y in (-10.0, -4.0, 2.0, 8.0)]
    return hall + rooms + upper + sides


def walls():
    x, y, z = HALF_X, HALF_Y, UPPER
    parts = [
        ("Plaster", (-x - 0.4, y, 0), (x + 0.4, y + 0.4, z + 1.3)),
        ("Plaster", (-x - 0.4, -y, 0), (-x, y, z + 1.3)),
        ("Plaster", (x, -y, 0), (x + 0.4, y, z + 1.3)),
    ]
    # A low wall in front, so that one can look into the hall.
    for low, high in pieces(-x - 0.4, x + 0.4, [(middle, GAP) for middle in ENTRANCES]):
        parts.append(("Plaster", (low, -y - 0.4, 0), (high, -y, 1.0)))
    # Between the hall and the rooms under the gallery, which open to it by doors.
    for low, high in pieces(-x, x, [(middle, GAP) for middle in DOORS]):
        parts.append(("Plaster", (low, EDGE_Y + 0.7, 0), (high, EDGE_Y + 1.0, z - 0.3)))
    # The rooms are joined by a wide passage.
    for low, high in ((EDGE_Y + 1.0, 6.6), (9.4, y)):
        parts.append(("Plaster", (-0.15, low, 0), (0.15, high, z - 0.3)))
    # Those under the sides of the gallery.
    for side in (-1, 1):
        edges = sorted((side * EDGE_X, side * (EDGE_X + 0.3)))
        for low, high in pieces(-y, EDGE_Y + 0.7, [(-6.0, 4.0)]):
            parts.append(("Plaster", (edges[0], low, 0), (edges[1], high, z - 0.3)))
    return parts


def gallery():
    x, y, z = HALF_X, HALF_Y, UPPER
    low = z - 0.3
    return [
        ("Oak", (-x, EDGE_Y, low), (x, y, z)),
        ("Oak", (-x, -y, low), (-EDGE_X, EDGE_Y, z)),
        ("Oak", (EDGE_X, -y, low), (x, EDGE_Y, z)),
    ]


def rails():
    z, y, thin, high = UPPER, EDGE_Y, 0.12, UPPER + 1.0
    gaps = [(middle, WIDE) for middle in STAIRS] + [(0.0, 2 * SHAFT)]
    parts = [("Rail", (a, y, z), (b, y + thin, high)) for a, b in pieces(-EDGE_X, EDGE_X, gaps)]
    for side in (-1, 1):
        edges = sorted((side * EDGE_X, side * (EDGE_X + thin)))
        parts.append(("Rail", (edges[0], -HALF_Y, z), (edges[1], y + thin, high)))
        edges = sorted((side * EDGE_X, side * HALF_X))
        parts.append(("Rail", (edges[0], -HALF_Y, z), (edges[1], -HALF_Y + thin, high)))
        # The sides of the stairs, and of the shaft of the lift.
        for middle in STAIRS:
            edge = middle + side * (WIDE / 2 - thin / 2)
            for i in range(6):
                at = EDGE_Y - (18 - 3 * i) * TREAD
                parts.append(("Rail", (edge - thin / 2, at, 0),
                              (edge + thin / 2, at + 3 * TREAD, (3 * i + 3) * STEP + 0.9)))
        edge = side * SHAFT
        parts.append(("Rail", (edge - thin / 2, EDGE_Y - 2.5, 0), (edge + thin / 2, EDGE_Y, 1.0)))
    return parts


def stairs():
    count = round(UPPER / STEP)
    return [("Stone", (middle - WIDE / 2, EDGE_Y - (count - i) * TREAD, 0),
             (middle + WIDE / 2, EDGE_Y - (count - i - 1) * TREAD, STEP * (i + 1)))
            for middle in STAIRS for i in range(count)]


def sculptures():
    """Four shapes, each a mesh about its own origin."""
    vase, tower, egg, flame = Mesh(), Mesh(), Mesh(), Mesh()
    lathe(vase, [("Copper", [(0.0, 0), (0.16, 0), (0.3, 0.3), (0.24, 0.55), (0.1, 0.7),
                             (0.18, 0.85)])], 14)
    lathe(tower, [("Marble", arc(0.28, 0.26, -80, 60, 6)), ("Marble", arc(0.2, 0.62, -55, 60, 6)),
                  ("Marble", arc(0.13, 0.9, -55, 90, 6))], 14)
    lathe(egg, [("Bronze", [(0.0, 0), (0.12, 0.02), (0.1, 0.2)]),
                ("Bronze", arc(0.26, 0.45, -65, 90, 9))], 14)
    lathe(flame, [("Coral", [(0.0, 0), (0.2, 0.02), (0.26, 0.2), (0.12, 0.55), (0.16, 0.75),
                             (0.0, 1.15)])], 7)
    return [vase, tower, egg, flame]


def museum():
    glb = Glb(MATERIALS)
    x, y = HALF_X, HALF_Y
    pedestals = [("Stone", (a - 0.4, b - 0.4, c), (a + 0.4, b + 0.4, c + 0.8))
                 for a, b, c in exhibits()]
    parts = {
        "Floor": [("Tiles", (-x, -y, -0.5), (x, y, 0))],
        "Yard": [("Paving", (-x - 6, -YARD, -0.5), (x + 6, -y, 0))],
        "Walls": walls(), "Gallery": gallery(), "Rails": rails(), "Stairs": stairs(),
        "Pedestals": pedestals,
    }
    shade = shader([(low, high) for part in parts.values() for _, low, high in part])
    for name, part in parts.items():
        mesh, shapes = Mesh(), []
        for look, low, high in part:
            box(mesh, look, low, high, 2.0, shade, "xXyYZ" if name != "Gallery" else "xXyYzZ")
            size = [round(b - a, 4) for a, b in zip(low, high)]
            middle = [round((a + b) / 2, 4) for a, b in zip(low, high)]
            shapes.append({"shape": "box", "size": size, "position": middle})
        # The engine makes an actor of a node that has the extra value `physics`.
        glb.top(glb.node(name, mesh, extras={"physics": {"type": "static", "shapes": shapes}}))
    shapes = [glb.mesh(f"Shape {i}", mesh) for i, mesh in enumerate(sculptures(), 1)]
    rng = random.Random(5)
    for i, place in enumerate(exhibits(), 1):
        glb.top(glb.node(f"Exhibit {i}", rng.choice(shapes), add(place, (0, 0, 0.8))))
    glb.write(file_of("models/museum.glb"))


# --- What moves -----------------------------------------------------------------------------------


def visitor():
    """Somebody in a coat, who looks along y."""
    mesh = Mesh()
    lathe(mesh, [("Shoes", [(0.0, 0.0), (0.15, 0.0), (0.16, 0.1), (0.13, 0.14)]),
                 ("Coat", [(0.2, 0.14), (0.22, 0.5), (0.2, 0.9), (0.24, 1.2), (0.2, 1.34),
                           (0.08, 1.42)]),
                 ("Skin", [(0.07, 1.4), (0.07, 1.46)]), ("Skin", arc(0.135, 1.57, -70, 10, 4)),
                 ("Hair", arc(0.145, 1.58, 5, 90, 4))], 10)
    nose = Mesh()
    lathe(nose, [("Skin", [(0.0, -0.03), (0.03, 0.0), (0.0, 0.05)])], 5)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Body", mesh), glb.node("Nose", nose, (0, 0.135, 1.56)))
    glb.write(file_of("models/visitor.glb"))


def door():
    mesh = Mesh()
    half = GAP / 2
    box(mesh, "Door", (-half, -0.08, 0), (half, 0.08, 1.9), 1.0, lambda p, n: 1.0)
    box(mesh, "Mark", (-half, -0.1, 1.9), (half, 0.1, 1.96), 1.0, lambda p, n: 1.0)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Slab", mesh))
    glb.write(file_of("models/door.glb"))


def lift():
    mesh = Mesh()
    half = SHAFT - 0.1
    box(mesh, "Lift", (-half, -half, -0.12), (half, half, 0), 2.0, lambda p, n: 1.0)
    for x in (-half, half - 0.06):
        box(mesh, "Mark", (x, -half, 0), (x + 0.06, half, 0.9), 2.0, lambda p, n: 1.0)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Platform", mesh))
    glb.write(file_of("models/lift.glb"))


if __name__ == "__main__":
    museum()
    visitor()
    door()
    lift()
