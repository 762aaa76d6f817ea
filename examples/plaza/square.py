"""The square: a floor with a fountain, stairs and a ramp to a terrace, houses, lamps and trees.
Lengths are metres with z up."""

import math
import random

from asset_writer import Mesh, add, arc, box, lathe, quad, shader

HALF_X, HALF_Y = 18.0, 14.0
TERRACE = 1.2  # the height of its floor
EDGE = 6.0  # where the terrace begins
STEPS = 8
FOUNTAIN = (0.0, -3.0)


def boxes():
    """The boxes of each part: (material, metres of texture, faces that can be seen, low, high)."""
    x, y = HALF_X, HALF_Y
    rise = TERRACE / STEPS
    stairs = [("Steps", 1.5, "xXyZ", (-5, EDGE - 0.36 * (STEPS - i), 0),
               (5, EDGE - 0.36 * (STEPS - 1 - i) if i < STEPS - 1 else EDGE, rise * (i + 1)))
              for i in range(STEPS)]
    houses = []
    rng = random.Random(3)
    looks = ["Plaster", "Rose", "Sand"]
    left = -x - 1.0
    while left < x + 1:
        wide, high = rng.uniform(5, 7.5), rng.uniform(5.5, 8.5)
        look = looks[len(houses) % 3]
        houses.append((look, 3.0, "xXyZ", (left, y, 0), (left + wide, y + 3, TERRACE + high)))
        left += wide
    for side in (-1, 1):
        near = -y + 1
        while near < EDGE + 6:
            wide, high = rng.uniform(5, 7), rng.uniform(5, 8)
            low_x, high_x = (-x - 3, -x) if side < 0 else (x, x + 3)
            houses.append((looks[len(houses) % 3], 3.0, "xXyYZ", (low_x, near, 0),
                           (high_x, near + wide, high)))
            near += wide
    return {
        "Floor": [("Stone", 2.5, "Z", (-x, -y, -1), (x, y, 0))],
        "Terrace": [("Stone", 2.5, "xXyZ", (-x, EDGE, 0), (x, y, TERRACE))],
        "Stairs": stairs,
        "Parapet": [
            ("Steps", 1.5, "xXyYZ", (-x, EDGE, TERRACE), (-11.2, EDGE + 0.3, TERRACE + 0.7)),
            ("Steps", 1.5, "xXyYZ", (-8.2, EDGE, TERRACE), (-5, EDGE + 0.3, TERRACE + 0.7)),
            ("Steps", 1.5, "xXyYZ", (5, EDGE, TERRACE), (x, EDGE + 0.3, TERRACE + 0.7)),
            ("Steps", 1.5, "xXyYZ", (-x, -y - 0.3, 0), (x, -y, 0.8)),
        ],
        "Houses": houses,
        "Benches": [part for bx, by in ((-7, -8), (7, -8), (-12, 1), (12, 1)) for part in (
            ("Wood", 1.0, "xXyYzZ", (bx - 0.9, by - 0.22, 0.38), (bx + 0.9, by + 0.22, 0.45)),
            ("Iron", 1.0, "xXyY", (bx - 0.75, by - 0.18, 0), (bx - 0.65, by + 0.18, 0.38)),
            ("Iron", 1.0, "xXyY", (bx + 0.65, by - 0.18, 0), (bx + 0.75, by + 0.18, 0.38)))],
    }


def windows(mesh, houses):
    """Windows and a door on the side of each house that looks at the square."""
    for number, (_, _, _, (x, y, _), (X, Y, top)) in enumerate(houses):
        along_x = y >= HALF_Y
        ground = TERRACE if along_x else (0 if Y <= EDGE + 0.5 else TERRACE)
        width = X - x if along_x else Y - y
        count = int(width // 1.7)
        for row in range(int((top - ground - 1) // 2.2)):
            for column in range(count):
                middle = (column + 0.5) * width / count
                low = ground + 0.9 + 2.2 * row
                door = row == 0 and column == number % count
                half, low, high = (0.5, ground, 2.1) if door else (0.38, low, 1.15)
                lit = not door and (number * 7 + row * 5 + column * 3) % 4 == 0
                look = "Door" if door else ("Glow" if lit else "Glass")
                for part, grow, out in (("Frame", 0.1, 0.03), (look, 0.0, 0.05)):
                    a, b = middle - half - grow, 2 * (half + grow)
                    z, tall = low - (0 if door else grow), high + (1 if door else 2) * grow
                    if along_x:
                        start, across = (x + a, y - out, z), (b, 0, 0)
                    elif x < 0:
                        start, across = (X + out, y + a, z), (0, b, 0)
                    else:
                        start, across = (x - out, y + a + b, z), (0, -b, 0)
                    quad(mesh, part, start, across, (0, 0, tall), 1.0, lambda *_: 1.0)


def moved(mesh, start, offset):
    """Moves the points of the mesh after `start`, by material."""
    for look, (points, _) in mesh.parts.items():
        first = start.get(look, 0)
        points[first:] = [(add(point[0], offset), *point[1:]) for point in points[first:]]


def turned(mesh, profile, place, segments=16):
    start = {look: len(points) for look, (points, _) in mesh.parts.items()}
    lathe(mesh, profile, segments)
    moved(mesh, start, place)


def fountain(mesh):
    place = (*FOUNTAIN, 0.0)
    turned(mesh, [
        ("Steps", [(2.9, 0.0), (2.9, 0.16)]), ("Steps", [(2.9, 0.16), (2.3, 0.16)]),
        ("Steps", [(2.3, 0.16), (2.25, 0.6)]), ("Steps", [(2.25, 0.6), (1.95, 0.62)]),
        ("Steps", [(1.95, 0.62), (1.95, 0.45)]), ("Water", [(1.95, 0.45), (0.3, 0.45)]),
        ("Steps", [(0.32, 0.4), (0.2, 0.8), (0.26, 1.3)]),
        ("Steps", [(0.26, 1.3), (0.85, 1.5), (0.9, 1.62)]), ("Steps", [(0.9, 1.62), (0.78, 1.62)]),
        ("Water", [(0.8, 1.58), (0.08, 1.6)]), ("Steps", [(0.1, 1.55), (0.16, 1.9), (0.0, 2.1)]),
    ], place, 28)


def lamp_post(mesh, place):
    turned(mesh, [("Iron", [(0.16, 0.0), (0.14, 0.25), (0.05, 0.35), (0.045, 2.9)]),
                  ("Iron", [(0.045, 2.9), (0.2, 3.0)]), ("Glow", arc(0.17, 3.14, -80, 80, 6)),
                  ("Iron", [(0.2, 3.28), (0.02, 3.42)])], place, 12)


def tree(mesh, place, seed):
    rng = random.Random(seed)
    turned(mesh, [("Steps", [(0.75, 0.0), (0.75, 0.42), (0.62, 0.42)]),
                  ("Earth", [(0.64, 0.38), (0.0, 0.4)])], place, 18)
    turned(mesh, [("Wood", [(0.12, 0.35), (0.08, 1.6), (0.05, 2.3)])], place, 9)
    for _ in range(6):
        angle, far = rng.uniform(0, math.tau), rng.uniform(0.2, 0.6)
        middle = add(place, (far * math.cos(angle), far * math.sin(angle), rng.uniform(2.1, 3.1)))
        turned(mesh, [("Leaf", arc(rng.uniform(0.5, 0.8), 0.0, -90, 90, 7))], middle, 11)


LAMPS = ((-8, -3, 0), (8, -3, 0), (-5.8, 8, TERRACE), (5.8, 8, TERRACE))
TREES = ((-13, -9, 0), (13, -9, 0), (-14.5, 9.5, TERRACE), (14.5, 9.5, TERRACE), (-13, 4, 0),
         (13, 4, 0))


def square(glb):
    parts = boxes()
    solid = [(low, high) for part in parts.values() for _, _, _, low, high in part]
    basin = ((FOUNTAIN[0] - 2, FOUNTAIN[1] - 2, 0), (FOUNTAIN[0] + 2, FOUNTAIN[1] + 2, 0.6))
    shade = shader(solid + [basin])
    for name, part in parts.items():
        mesh, shapes = Mesh(), []
        for look, metres, faces, low, high in part:
            box(mesh, look, low, high, metres, shade, faces)
            size = [round(b - a, 4) for a, b in zip(low, high)]
            middle = [round((a + b) / 2, 4) for a, b in zip(low, high)]
            shapes.append({"shape": "box", "size": size, "position": middle})
        if name == "Houses":
            windows(mesh, part)
        stuff = "wood" if name == "Benches" else "stone"
        body = {"type": "static", "filter": "level", "material": stuff, "shapes": shapes}
        # The engine makes an actor of a node that has the extra value `physics`.
        glb.top(glb.node(name, mesh, extras={"physics": body}))
    ramp(glb, shade)
    mesh, shapes = Mesh(), []
    fountain(mesh)
    for radius, low, high in ((2.9, 0, 0.16), (2.3, 0.16, 0.62), (0.85, 0.62, 1.62)):
        ring = [(FOUNTAIN[0] + radius * math.cos(a), FOUNTAIN[1] + radius * math.sin(a), z)
                for a in (math.tau * i / 20 for i in range(20)) for z in (low, high)]
        shapes.append({"shape": "convex",
                       "points": [[round(c, 4) for c in point] for point in ring]})
    for place in LAMPS:
        lamp_post(mesh, place)
        shapes.append({"shape": "box", "size": [0.24, 0.24, 3.4],
                       "position": [*place[:2], place[2] + 1.7]})
    for number, place in enumerate(TREES):
        tree(mesh, place, number)
        for size, middle in ((1.4, 0.21), (0.2, 1.2)):
            shapes.append({"shape": "box", "size": [size, size, 2 * middle],
                           "position": [*place[:2], place[2] + middle]})
    body = {"type": "static", "filter": "level", "material": "stone", "shapes": shapes}
    glb.top(glb.node("Things", mesh, extras={"physics": body}))
    for number, place in enumerate(LAMPS, 1):
        glb.lamp(f"Lamp {number}", add(place, (0, 0, 3.0)), "#ffb866", 5.0, 9.0)


def ramp(glb, shade):
    """Up to the terrace, in front of its edge."""
    x, X, y, Y, top = -11.2, -8.2, 0.8, EDGE, TERRACE
    mesh = Mesh()
    quad(mesh, "Steps", (x, y, 0.0), (X - x, 0, 0), (0, Y - y, top), 1.5, shade)
    for side, order in ((X, 1), (x, -1)):
        low, far, high = (side, y, 0.0), (side, Y, 0.0), (side, Y, top)
        rows = ((low, far), (low, high)) if order > 0 else ((far, low), (high, low))
        mesh.grid("Steps", [[(p, (float(order), 0.0, 0.0), (p[1], p[2]), 0.8) for p in row]
                            for row in rows])
    points = [[a, b, c] for a in (x, X) for b, c in ((y, 0.0), (Y, 0.0), (Y, top))]
    body = {"type": "static", "filter": "level", "material": "stone", "shape": "convex"}
    glb.top(glb.node("Ramp", mesh, extras={"physics": {**body, "points": points}}))
