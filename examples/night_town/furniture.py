"""What is on the streets: lamps, strings of bulbs, trees, planters, benches, a fountain; and the
hills around the town."""

import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from asset_writer import Glb, Mesh, add, arc, box, lathe, material

MATERIALS = {
    "Iron": material("#17191c", 0.4, 0.6), "Glass": material("#fff2d8", 0.4),
    "Bulb": material("#ffdca0", 0.5), "Bark": material("#3a2d24", 0.9),
    "Leaves": material("#3d5a2c", 0.8), "Stone": material("#8d887e", 0.7),
    "Wood": material("#5d3f28", 0.6, picture="planks"), "Water": material("#0b1a20", 0.04),
    "Petals": material("#b03a4a", 0.7), "Hills": material("#26331f", 1.0),
}

OPEN = lambda place, normal: 1.0  # nothing is near that takes light away


def moved(mesh, offset):
    """The same mesh at another place."""
    for points, _ in mesh.parts.values():
        points[:] = [(add(point[0], offset), *point[1:]) for point in points]
    return mesh


def tube(mesh, look, path, radius, sides=6):
    """A bent pipe in the plane of x and z."""
    rows = []
    for i, (x, z) in enumerate(path):
        (x0, z0), (x1, z1) = path[max(i - 1, 0)], path[min(i + 1, len(path) - 1)]
        angle = math.atan2(z1 - z0, x1 - x0)
        row = []
        for s in range(sides + 1):
            turn = math.tau * s / sides
            c, d = math.cos(turn), math.sin(turn)
            normal = (-math.sin(angle) * c, d, math.cos(angle) * c)
            row.append(((x + radius * normal[0], radius * d, z + radius * normal[2]), normal,
                        (s / sides, i), 1.0))
        rows.append(row[::-1])
    mesh.grid(look, rows)


def lamp(path):
    """A lantern that hangs from an arm along x. Lantern and glass cast no shadow: the light is in
    them."""
    post, lantern, glass = Mesh(), Mesh(), Mesh()
    lathe(post, [("Iron", [(0.2, 0.0), (0.2, 0.08), (0.13, 0.14), (0.11, 0.5), (0.075, 0.62)]),
                 ("Iron", [(0.065, 0.6), (0.05, 4.2)]), ("Iron", arc(0.08, 4.25, -60, 90, 4))], 10)
    arm = [(0.55 - 0.55 * math.cos(math.radians(a)), 3.55 + 0.62 * math.sin(math.radians(a)))
           for a in range(0, 181, 15)]
    tube(post, "Iron", arm, 0.028)
    lathe(lantern, [("Iron", [(0.0, 3.62), (0.1, 3.58), (0.27, 3.46), (0.27, 3.42)]),
                    ("Iron", [(0.27, 3.42), (0.0, 3.42)]),
                    ("Iron", [(0.0, 2.92), (0.15, 2.92), (0.15, 2.97), (0.1, 3.0)])], 8)
    lathe(glass, [("Glass", [(0.13, 2.98), (0.2, 3.42)])], 8)
    arm_end = (1.1, 0, 0)
    glb = Glb(MATERIALS)
    body = {"type": "static", "filter": "level", "shape": "box", "size": [0.3, 0.3, 4],
            "position": [0, 0, 2]}
    glb.top(glb.node("Post", post, extras={"physics": body}),
            glb.node("Lantern", moved(lantern, arm_end)), glb.node("Glass", moved(glass, arm_end)),
            glb.node("Light", place=(1.1, 0, 3.15)))
    glb.write(path)


def festoon(path, half=4.62, count=17, sag=0.75):
    """A string of bulbs across the street; its middle hangs lower."""
    cord, bulbs = Mesh(), Mesh()
    drop = lambda x: -sag * (1 - (x / half) ** 2)
    points = [(half * (i / 12 - 1), drop(half * (i / 12 - 1))) for i in range(25)]
    tube(cord, "Iron", points, 0.012, 4)
    for i in range(count):
        x = half * (2 * (i + 0.5) / count - 1)
        bulb = Mesh()
        lathe(bulb, [("Bulb", arc(0.062, -0.1, -90, 90, 5))], 8)
        for points, indices in moved(bulb, (x, 0, drop(x))).parts.values():
            kept, numbers = bulbs.parts.setdefault("Bulb", ([], []))
            numbers.extend(len(kept) + index for index in indices)
            kept.extend(points)
    glb = Glb(MATERIALS)
    glb.top(glb.node("Cord", cord), glb.node("Bulbs", bulbs), glb.node("Light", place=(0, 0, -1.2)))
    glb.write(path)


def clump(mesh, look, middle, radius, rng, rings=7, sides=11):
    """A ball of leaves with dents, darker below."""
    phases = [rng.uniform(0, math.tau) for _ in range(4)]
    rows = []
    for j in range(rings + 1):
        tilt = math.pi * (j / rings - 0.5)
        row = []
        for s in range(sides + 1):
            turn = math.tau * (s % sides) / sides
            way = (math.cos(tilt) * math.cos(turn), math.cos(tilt) * math.sin(turn), math.sin(tilt))
            bump = sum(math.sin(k * turn + 3 * tilt * k + phases[k - 1]) / k for k in (2, 3, 4))
            far = radius * (1 + 0.11 * bump)
            shade = 0.62 + 0.38 * way[2] + 0.1 * bump
            place = tuple(m + far * w for m, w in zip(middle, way))
            row.append((place, way, (s, j), max(0.15, min(1.0, shade))))
        rows.append(row)
    mesh.grid(look, rows)


def tree(path):
    rng = random.Random(3)
    trunk, leaves, far = Mesh(), Mesh(), Mesh()
    lathe(trunk, [("Bark", [(0.24, 0.0), (0.15, 0.4), (0.12, 1.6), (0.1, 2.6)])], 8)
    for i in range(9):
        turn = 2.4 * i
        middle = (0.75 * math.cos(turn), 0.75 * math.sin(turn), 2.75 + 0.28 * i)
        clump(leaves, "Leaves", middle, 1.0 - 0.045 * i, rng)
    clump(far, "Leaves", (0, 0, 3.7), 1.75, rng, 6, 8)
    bed = [(0.9, 0.0), (0.9, 0.35), (0.72, 0.35), (0.7, 0.28), (0.0, 0.28)]
    lathe(trunk, [("Stone", bed)], 14)
    body = {"type": "static", "filter": "level", "shape": "box", "size": [1.6, 1.6, 1],
            "position": [0, 0, 0.5]}
    glb = Glb(MATERIALS)
    glb.top(glb.node("Trunk", trunk, extras={"physics": body}), glb.node("Leaves", leaves),
            glb.node("Far leaves", far))
    glb.write(path)


def planter(path):
    rng = random.Random(8)
    pot, plant = Mesh(), Mesh()
    lathe(pot, [("Stone", [(0.24, 0.0), (0.36, 0.5), (0.4, 0.5), (0.4, 0.56), (0.3, 0.56),
                           (0.0, 0.5)])], 12)
    clump(plant, "Leaves", (0, 0, 0.78), 0.38, rng, 6, 9)
    for i in range(9):
        turn, tilt = 2.4 * i, 0.25 + 0.09 * i
        middle = (0.4 * math.cos(turn) * math.cos(tilt), 0.4 * math.sin(turn) * math.cos(tilt),
                  0.78 + 0.4 * math.sin(tilt))
        clump(plant, "Petals", middle, 0.075, rng, 3, 5)
    glb = Glb(MATERIALS)
    body = {"type": "static", "filter": "level", "shape": "box", "size": [0.7, 0.7, 1],
            "position": [0, 0, 0.5]}
    glb.top(glb.node("Pot", pot, extras={"physics": body}), glb.node("Plant", plant))
    glb.write(path)


def bench(path):
    mesh = Mesh()
    for y in (-0.2, -0.05, 0.1):
        box(mesh, "Wood", (-0.85, y, 0.43), (0.85, y + 0.12, 0.47), 0.6, OPEN)
    for z in (0.58, 0.74):
        box(mesh, "Wood", (-0.85, 0.26, z), (0.85, 0.3, z + 0.11), 0.6, OPEN)
    for x in (-0.7, 0.64):
        box(mesh, "Iron", (x, -0.2, 0.0), (x + 0.06, -0.14, 0.43), 1.0, OPEN)
        box(mesh, "Iron", (x, 0.22, 0.0), (x + 0.06, 0.27, 0.86), 1.0, OPEN)
        box(mesh, "Iron", (x, -0.2, 0.39), (x + 0.06, 0.27, 0.43), 1.0, OPEN)
    body = {"type": "static", "filter": "level", "shape": "box", "size": [1.7, 0.6, 0.9],
            "position": [0, 0, 0.45]}
    glb = Glb(MATERIALS)
    glb.top(glb.node("Bench", mesh, extras={"physics": body}))
    glb.write(path)


def fountain(path):
    basin, water = Mesh(), Mesh()
    lathe(basin, [("Stone", [(2.5, 0.0), (2.5, 0.16), (2.2, 0.16)]),
                  ("Stone", [(2.1, 0.16), (2.1, 0.6)]),
                  ("Stone", [(2.1, 0.6), (2.22, 0.6), (2.22, 0.7), (1.86, 0.7), (1.86, 0.3)]),
                  ("Stone", [(0.34, 0.3), (0.26, 0.55), (0.2, 1.3), (0.3, 1.45)]),
                  ("Stone", [(0.3, 1.45), (0.95, 1.72), (0.98, 1.8), (0.88, 1.8), (0.2, 1.6)]),
                  ("Stone", [(0.16, 1.6), (0.11, 2.2), (0.17, 2.3), (0.0, 2.36)])], 24)
    levels = ((1.88, 0.52), (0.9, 1.75))  # the basin and the bowl
    lathe(water, [("Water", [(radius, z), (0.0, z)]) for radius, z in levels], 24)
    body = {"type": "static", "filter": "level", "shape": "box", "size": [4.4, 4.4, 1.4],
            "position": [0, 0, 0.7]}
    glb = Glb(MATERIALS)
    glb.top(glb.node("Basin", basin, extras={"physics": body}), glb.node("Water", water))
    glb.write(path)


def hills(glb):
    """A ring of hills around the town, as a part of the model of the ground."""
    mesh, rows = Mesh(), []
    rng = random.Random(4)
    phases = [rng.uniform(0, math.tau) for _ in range(6)]
    for radius, share in ((75, 0.0), (105, 0.45), (150, 1.0), (230, 0.7)):
        row = []
        for s in range(73):
            turn = math.tau * (s % 72) / 72
            wave = sum(math.sin((k + 1) * turn + phases[k]) / (k + 1) for k in range(1, 6))
            row.append(((radius * math.cos(turn), radius * math.sin(turn),
                         max(0.0, share * (17 + 11 * wave))),
                        (-math.cos(turn) * 0.4, -math.sin(turn) * 0.4, 0.82), (s, radius), 1.0))
        rows.append(row)
    mesh.grid("Hills", rows[::-1])
    glb.top(glb.node("Hills", mesh))


def write(folder):
    for build in (lamp, festoon, tree, planter, bench, fountain):
        build(f"{folder}/{build.__name__}.glb")
