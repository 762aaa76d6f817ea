"""The houses of the town and its clock tower: models of four parts. `Walls` and `Roof` get their
materials from the unit files, `Windows` that of the shader of windows, and `Trim` is hidden far
from the camera. The front of a house looks along -y, and its middle is at x = 0.
"""

import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from asset_writer import Glb, Mesh, box, material, quad, shader

from layout import HOUSES

MATERIALS = {
    # Those of Walls, Roof and Windows are replaced by the units.
    "Walls": material("#ffffff", 0.9), "Roof": material("#8a4a38", 0.8),
    "Windows": material("#10141c", 0.1), "Dial": material("#fff1cf", 0.6),
    "Frame": material("#e9e2d2", 0.6), "Stone": material("#8f877a", 0.85),
    "Door": material("#3d5246", 0.45), "Iron": material("#1b1d20", 0.4, 0.7),
    "Awning": material("#8e2f2a", 0.8), "Stripe": material("#e8dcc4", 0.8),
}

FLOOR = 3.0
PANE = (1.05, 1.55)  # width and height of a window


def plain_box(mesh, look, low, high, faces, shade):
    """A box of few triangles: each face has four corners, however long it is."""
    for axis in range(3):
        for side, name in ((0, "xyz"[axis]), (1, "XYZ"[axis])):
            if name not in faces:
                continue
            normal = tuple(float(2 * side - 1) if i == axis else 0.0 for i in range(3))
            a, b = (axis + 1) % 3, (axis + 2) % 3
            rows = []
            for v in (0, 1):
                row = []
                for u in (0, 1) if side else (1, 0):
                    place = [0.0] * 3
                    place[axis] = (low, high)[side][axis]
                    place[a], place[b] = (low, high)[u][a], (low, high)[v][b]
                    row.append((tuple(place), normal, (place[a], place[b]), shade(place, normal)))
                rows.append(row)
            mesh.grid(look, rows)


class Facade:
    """One wall, on which windows and boxes are put: `u` along the wall, `z` up, `out` outwards."""

    def __init__(self, house, origin, across):
        self.house, self.origin, self.across = house, origin, across
        self.out = (across[1], -across[0], 0.0)

    def point(self, u, z, out=0.0):
        (x, y), (a, b), (c, d, _) = self.origin, self.across[:2], self.out
        return (x + a * u + c * out, y + b * u + d * out, z)

    def box(self, look, u, z, out):
        """A box from u[0] to u[1], z[0] to z[1], out[0] to out[1]."""
        corners = [self.point(u[i], z[i], out[i]) for i in (0, 1)]
        low = tuple(min(pair) for pair in zip(*corners))
        high = tuple(max(pair) for pair in zip(*corners))
        behind = {(0, -1): "Y", (-1, 0): "X", (1, 0): "x"}[self.out[:2]]
        plain_box(self.house.trim, look, low, high, "xXyYzZ".replace(behind, ""), self.house.shade)

    def pane(self, u, z, shop):
        """Glass. The whole part of its first texture coordinate is the number of the window; those
        of shops are from 100 on."""
        house = self.house
        first, rows = house.panes + 0.02 + (100 if shop else 0), []
        for v, height in ((0.02, z[0]), (0.98, z[1])):
            rows.append([(self.point(u[s], height, 0.02), self.out, (first + 0.96 * s, v), 1.0)
                         for s in (0, 1)])
        house.windows.grid("Windows", rows)
        house.panes += 1

    def window(self, middle, low, size=PANE, sill=True, shop=False):
        left, right, high = middle - size[0] / 2, middle + size[0] / 2, low + size[1]
        self.pane((left, right), (low, high), shop)
        for u in ((left - 0.09, left), (right, right + 0.09)):
            self.box("Frame", u, (low, high), (0.0, 0.09))
        self.box("Frame", (left - 0.09, right + 0.09), (high, high + 0.12), (0.0, 0.11))
        if sill:
            self.box("Stone", (left - 0.14, right + 0.14), (low - 0.1, low), (0.0, 0.2))

    def windows(self, count, low, width, size=PANE):
        for i in range(count):
            self.window((i + 0.5 - count / 2) * width / count, low, size)


class House:
    def __init__(self, width, depth, height, metres=2.0):
        self.size = (width, depth, height)
        self.metres, self.panes = metres, 0
        self.walls, self.roof, self.windows, self.trim = Mesh(), Mesh(), Mesh(), Mesh()
        half = width / 2
        ground = ((-60, -60, -1), (60, 60, 0))
        eaves = ((-half - 0.4, -0.4, height), (half + 0.4, depth + 0.4, height + 0.1))
        self.shade = shader([ground, eaves])
        self.front = Facade(self, (0, 0), (1, 0, 0))
        self.left = Facade(self, (-half, depth / 2), (0, -1, 0))
        self.right = Facade(self, (half, depth / 2), (0, 1, 0))
        box(self.walls, "Walls", (-half, 0, 0), (half, depth, height), metres, self.shade, "xXyY")
        # A base of stone, and bands between the floors.
        for side, length in ((self.front, width), (self.left, depth), (self.right, depth)):
            side.box("Stone", (-length / 2 - 0.05, length / 2 + 0.05), (0, 0.5), (0, 0.07))

    def slope(self, eave, ridge, across):
        """One side of a roof, from the left end of its eave, seen from above and from below."""
        up = tuple(r - e for r, e in zip(ridge, eave))
        light = lambda place, normal: 1.0 if normal[2] > 0 else 0.45
        quad(self.roof, "Roof", eave, across, up, 1.5, light)
        back = tuple(e + a for e, a in zip(eave, across))
        quad(self.roof, "Roof", back, tuple(-a for a in across), up, 1.5, light)

    def eaves_roof(self, rise):
        """The ridge is along x: the eaves are over the street."""
        width, depth, height = self.size
        x, over = width / 2 + 0.12, 0.45
        low = height - over * rise / (depth / 2)
        ridge = (0, depth / 2, height + rise)
        self.slope((-x, -over, low), (-x, *ridge[1:]), (2 * x, 0, 0))
        self.slope((x, depth + over, low), (x, *ridge[1:]), (-2 * x, 0, 0))
        for side in (-1, 1):
            self.gable((side * width / 2, 0 if side > 0 else depth),
                       (0, depth * side, 0), (side, 0, 0), rise)
        self.front.box("Iron", (-x, x), (low - 0.12, low), (over - 0.02, over + 0.12))

    def gable_roof(self, rise):
        """The ridge is along y: the gable is over the street."""
        width, depth, height = self.size
        half, over = width / 2, 0.3
        low = height - over * rise / half
        ridge = (0, -0.25, height + rise)
        self.slope((half + over, -0.25, low), ridge, (0, depth + 0.5, 0))
        self.slope((-half - over, depth + 0.25, low), (0, depth + 0.25, ridge[2]),
                   (0, -depth - 0.5, 0))
        self.gable((-half, 0), (width, 0, 0), (0, -1, 0), rise)
        self.gable((half, depth), (-width, 0, 0), (0, 1, 0), rise)

    def gable(self, start, across, normal, rise):
        height = self.size[2]
        x, y = start
        middle = (x + across[0] / 2, y + across[1] / 2)
        long = abs(across[0]) + abs(across[1])

        def corner(place, z, u):
            return ((*place, z), normal, (u / self.metres, z / self.metres), 0.9)

        low = [corner((x, y), height, 0), corner((x + across[0], y + across[1]), height, long)]
        high = [corner(middle, height + rise, long / 2)] * 2
        self.walls.grid("Walls", [low, high])

    def door(self, middle):
        self.front.box("Door", (middle - 0.55, middle + 0.55), (0, 2.3), (0, 0.05))
        self.front.box("Stone", (middle - 0.7, middle + 0.7), (2.3, 2.5), (0, 0.14))
        for side in (-0.7, 0.55):
            self.front.box("Stone", (middle + side, middle + side + 0.15), (0, 2.3), (0, 0.12))
        self.front.box("Stone", (middle - 0.8, middle + 0.8), (0, 0.14), (0, 0.45))

    def chimney(self, x, y, top):
        low = self.size[2] - 0.5
        box(self.walls, "Walls", (x - 0.35, y - 0.35, low), (x + 0.35, y + 0.35, top),
            self.metres, lambda place, normal: 0.85, "xXyYZ")
        box(self.trim, "Stone", (x - 0.43, y - 0.43, top), (x + 0.43, y + 0.43, top + 0.15), 1.0,
            self.shade)

    def write(self, path, *more):
        """`more` are functions that add nodes and lights to the file."""
        width, depth, height = self.size
        body = {"type": "static", "filter": "level", "shape": "box",
                "size": [width, depth, height], "position": [0, depth / 2, height / 2]}
        glb = Glb(MATERIALS)
        glb.top(glb.node("Walls", self.walls, extras={"physics": body}),
                glb.node("Roof", self.roof), glb.node("Windows", self.windows),
                glb.node("Trim", self.trim))
        for add in more:
            add(glb)
        glb.write(path)


def eaves_house():
    house = House(*HOUSES["eaves"])
    front = house.front
    for floor in (1, 2):
        front.windows(3, FLOOR * floor + 1.1, 6.6)
        front.box("Stone", (-3.5, 3.5), (FLOOR * floor + 0.35, FLOOR * floor + 0.5), (0, 0.08))
        for side in (house.left, house.right):
            side.windows(2, FLOOR * floor + 1.1, 7.0)
    front.window(-2.2, 1.0)
    front.window(2.2, 1.0)
    house.door(0.0)
    house.eaves_roof(3.6)
    house.chimney(-2.4, 5.2, 12.9)
    return house


def gable_house():
    house = House(*HOUSES["gable"], metres=1.0)
    house.front.windows(3, 4.0, 5.6, (0.95, 1.5))
    house.front.window(0.0, 7.3, (1.0, 1.3))
    house.front.windows(2, 7.05, 3.6, (0.5, 0.8))
    house.front.window(1.5, 1.0, (1.3, 1.5))
    house.front.box("Stone", (-3.0, 3.0), (3.3, 3.45), (0, 0.1))
    house.door(-1.5)
    house.gable_roof(4.2)
    house.chimney(1.6, 5.0, 9.8)
    return house


def shop_house():
    house = House(*HOUSES["shop"])
    front = house.front
    for middle in (-2.5, 2.5):  # shop windows down to the knees
        front.window(middle, 0.7, (2.2, 2.0), shop=True)
        for i in range(7):  # an awning of stripes
            u = middle - 1.4 + 0.4 * i
            corners = [front.point(u + 0.4 * s, z, out)
                       for z, out in ((2.55, 1.05), (3.05, 0.05)) for s in (0, 1)]
            look = "Awning" if i % 2 == 0 else "Stripe"
            for rows in ((corners[:2], corners[2:]), (corners[1::-1], corners[:1:-1])):
                down = rows[0] == corners[1::-1]
                normal = (0.0, 0.43, -0.9) if down else (0.0, -0.43, 0.9)
                house.trim.grid(look, [[(p, normal, (0, 0), 0.6 if down else 1.0) for p in row]
                                       for row in rows])
    house.door(0.0)
    front.box("Stone", (-4.0, 4.0), (3.25, 3.45), (0, 0.16))
    for floor in (1, 2):
        front.windows(4, FLOOR * floor + 1.2, 7.8)
        for side in (house.left, house.right):
            side.windows(2, FLOOR * floor + 1.2, 7.0)
    house.eaves_roof(3.2)
    house.chimney(2.6, 5.4, 12.6)
    return house


def narrow_house():
    house = House(*HOUSES["narrow"], metres=1.0)
    for floor in (1, 2, 3):
        house.front.windows(2, FLOOR * floor + 1.0, 4.4)
        band = (FLOOR * floor + 0.3, FLOOR * floor + 0.42)
        house.front.box("Stone", (-2.5, 2.5), band, (0, 0.09))
        for side in (house.left, house.right):
            side.windows(2, FLOOR * floor + 1.0, 6.4)
    house.front.window(0.0, 12.9, (0.9, 1.3))
    house.front.window(1.1, 1.0)
    house.door(-1.0)
    house.gable_roof(4.4)
    return house


# --- The clock tower -----------------------------------------------------------------------------

DIAL = 13.2  # the height of the middle of the dial
RADIUS = 1.55


def dial(look, radius, y, facing=-1.0):
    """A disc that looks along -y."""
    mesh, ring = Mesh(), []
    for i in range(33):
        angle = math.tau * i / 32
        at = (radius * math.cos(angle), y, radius * math.sin(angle))
        uv = (0.5 + 0.5 * at[0] / radius, 0.5 - 0.5 * at[2] / radius)
        ring.append((at, (0, facing, 0), uv, 1.0))
    middle = ((0, y, 0), (0, facing, 0), (0.5, 0.5), 1.0)
    mesh.grid(look, [ring, [middle] * 33])
    return mesh


def tower(path):
    house = House(5.0, 5.0, 17.0)
    sides = (house.front, house.left, house.right)
    for side in sides:
        for z in (4.2, 7.6):
            side.window(0.0, z, (0.8, 1.9))
        for z in (10.6, 15.6, 16.8):
            side.box("Stone", (-2.65, 2.65), (z, z + 0.22), (0, 0.16))
        for u in (-2.5, 2.1):  # the corners
            side.box("Stone", (u, u + 0.4), (0.5, 16.8), (0, 0.08))
    house.front.box("Door", (-0.8, 0.8), (0, 2.7), (0, 0.06))
    house.front.box("Stone", (-1.1, 1.1), (2.7, 3.0), (0, 0.2))
    for u in (-1.1, 0.8):
        house.front.box("Stone", (u, u + 0.3), (0, 2.7), (0, 0.16))
    spire(house)
    hand = {}
    for name, half, low, high, out in (("Hour", 0.09, -0.25, 0.95, 0.2),
                                       ("Minute", 0.055, -0.35, 1.35, 0.26)):
        hand[name] = Mesh()
        box(hand[name], "Iron", (-half, -out - 0.04, low), (half, -out, high), 1.0,
            lambda place, normal: 1.0)

    def clock(glb):
        place = (0, 0, DIAL)
        glb.top(glb.node("Rim", dial("Iron", RADIUS + 0.16, -0.1), place),
                glb.node("Dial", dial("Dial", RADIUS, -0.14), place),
                glb.node("Hour", hand["Hour"], place), glb.node("Minute", hand["Minute"], place))

    house.write(path, clock)


def spire(house):
    """A steep roof with four sides and a ball on its tip."""
    top, tip, half = 17.0, 25.5, 2.9
    light = lambda normal: 1.0 if normal[2] > 0 else 0.45
    corners = [(-half, -half + 2.5), (half, -half + 2.5), (half, half + 2.5), (-half, half + 2.5)]
    for i in range(4):
        (x, y), (X, Y) = corners[i], corners[(i + 1) % 4]
        out = ((Y - y) / (2 * half), (x - X) / (2 * half))
        normal = (out[0] * 0.946, out[1] * 0.946, 0.323)
        row = [((x, y, top), normal, (0, 0), 1.0), ((X, Y, top), normal, (4, 0), 1.0)]
        peak = [((0, 2.5, tip), normal, (2, 6), 1.0)] * 2
        house.roof.grid("Roof", [row, peak])
    below = [[((x, y, top), (0, 0, -1.0), (x, y), 0.45) for x in (half, -half)]
             for y in (2.5 - half, 2.5 + half)]
    house.roof.grid("Roof", below)
    box(house.trim, "Iron", (-0.05, 2.45, tip - 0.6), (0.05, 2.55, tip + 1.3), 1.0,
        lambda place, normal: 1.0)


KINDS = {"eaves": eaves_house, "gable": gable_house, "shop": shop_house, "narrow": narrow_house}


def write(folder):
    for name, build in KINDS.items():
        build().write(f"{folder}/{name}.glb")
    tower(f"{folder}/tower.glb")
