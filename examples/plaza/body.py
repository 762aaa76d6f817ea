"""The mesh of the figure: tubes around the joints of rig.py, in clothes of several materials."""

import math

from asset_writer import Mesh
from rig import NAMES, PLACE, add, cross, mix, scaled, sub, unit

SEGMENTS = 14


def tube(mesh, look, rings, plane="xy", square=1.0, segments=SEGMENTS):
    """A tube through rings (middle, radii, joints), from below to above, or from front to back for
    rings in the plane "xz". `joints` are (name, weight) pairs, or a function that returns them for
    a point. A `square` below 1 makes the rings rounded rectangles."""
    bent = lambda v: math.copysign(abs(v) ** square, v)
    rows = []
    for middle, (wide, deep), joints in rings:
        row = []
        for i in range(segments + 1):
            angle = math.tau * (i % segments) / segments
            u, v = wide * bent(math.cos(angle)), deep * bent(math.sin(angle))
            point = add(middle, (u, v, 0.0) if plane == "xy" else (u, 0.0, v))
            row.append((point, joints(point) if callable(joints) else joints))
        rows.append(row)
    mesh.grid(look, [[with_normal(rows, r, i) for i in range(segments + 1)]
                     for r in range(len(rows))])


def with_normal(rows, r, i):
    """A point of the grid with its normal, from its neighbours around and along the tube."""
    point, joints = rows[r][i]
    count = len(rows[r]) - 1
    around = sub(rows[r][(i + 1) % count][0], rows[r][(i - 1) % count][0])
    along = sub(rows[min(r + 1, len(rows) - 1)][i][0], rows[max(r - 1, 0)][i][0])
    normal = cross(around, along)
    if sum(part * part for part in normal) < 1e-14:  # the tip of a cap
        step = 1 if r == 0 else -1
        normal = sub(rows[r][i][0], rows[r + step][i][0])
        middle = scaled(add(rows[r + step][0][0], rows[r + step][count // 2][0]), 0.5)
        normal = sub(rows[r][i][0], middle)
    total = sum(weight for _, weight in joints)
    shares = [(NAMES.index(name), weight / total) for name, weight in joints]
    return point, unit(normal), (0.0, 0.0), 1.0, shares


def between(a, b, t, *offset):
    place = tuple(mix(x, y, t) for x, y in zip(PLACE[a], PLACE[b]))
    return add(place, offset) if offset else place


def ball(mesh, look, middle, radii, joints, low=-90, high=90, count=7, segments=SEGMENTS):
    """A part of an ellipsoid, from an angle below its middle to one above it."""
    rings = []
    for i in range(count + 1):
        angle = math.radians(low + (high - low) * i / count)
        size = max(math.cos(angle), 0.002)
        rings.append((add(middle, (0.0, 0.0, radii[2] * math.sin(angle))),
                      (radii[0] * size, radii[1] * size), joints))
    tube(mesh, look, rings, segments=segments)


def leg(mesh, side):
    thigh, shin, foot = f"thigh_{side}", f"shin_{side}", f"foot_{side}"
    low = lambda t, *offset: between(foot, shin, t, *offset)
    high = lambda t, *offset: between(shin, thigh, t, *offset)
    tube(mesh, "Trousers", [
        (low(0.1), (0.046, 0.05), [(shin, 1)]),
        (low(0.35, 0, -0.008, 0), (0.054, 0.06), [(shin, 1)]),
        (low(0.65, 0, -0.012, 0), (0.062, 0.07), [(shin, 1)]),
        (low(0.88), (0.06, 0.064), [(shin, 0.8), (thigh, 0.2)]),
        (high(0.0), (0.061, 0.066), [(shin, 0.5), (thigh, 0.5)]),
        (high(0.12), (0.065, 0.07), [(shin, 0.18), (thigh, 0.82)]),
        (high(0.4), (0.078, 0.084), [(thigh, 1)]),
        (high(0.75), (0.087, 0.096), [(thigh, 0.9), ("hips", 0.1)]),
        (high(0.98), (0.085, 0.1), [(thigh, 0.5), ("hips", 0.5)]),
    ])
    ankle = PLACE[foot]
    tube(mesh, "Boots", [
        (add(ankle, (0, 0, -0.03)), (0.045, 0.055), [(foot, 1)]),
        (add(ankle, (0, 0, 0.02)), (0.05, 0.058), [(foot, 0.7), (shin, 0.3)]),
        (add(ankle, (0, 0, 0.08)), (0.054, 0.06), [(foot, 0.2), (shin, 0.8)]),
        (add(ankle, (0, 0, 0.135)), (0.06, 0.064), [(shin, 1)]),
        (add(ankle, (0, 0, 0.15)), (0.056, 0.06), [(shin, 1)]),
        (add(ankle, (0, 0, 0.152)), (0.045, 0.05), [(shin, 1)]),
    ])
    toe, x = PLACE[f"toe_{side}"], ankle[0]
    at = lambda y, z: (mix(x, toe[0], (y - ankle[1]) / (toe[1] - ankle[1])), y, z)
    tube(mesh, "Boots", [
        (at(0.222, 0.03), (0.012, 0.012), [(f"toe_{side}", 1)]),
        (at(0.205, 0.033), (0.04, 0.026), [(f"toe_{side}", 1)]),
        (at(0.15, 0.038), (0.052, 0.038), [(f"toe_{side}", 0.8), (foot, 0.2)]),
        (at(0.09, 0.045), (0.052, 0.045), [(f"toe_{side}", 0.2), (foot, 0.8)]),
        (at(0.02, 0.055), (0.047, 0.055), [(foot, 1)]),
        (at(-0.05, 0.055), (0.045, 0.055), [(foot, 1)]),
        (at(-0.085, 0.05), (0.035, 0.042), [(foot, 1)]),
        (at(-0.095, 0.05), (0.006, 0.01), [(foot, 1)]),
    ], plane="xz", square=0.75)


def arm(mesh, side):
    upper, lower, hand = f"upper_arm_{side}", f"lower_arm_{side}", f"hand_{side}"
    low = lambda t: between(hand, lower, t)
    high = lambda t: between(lower, upper, t)
    inward = 0.03 if side == "l" else -0.03
    tube(mesh, "Coat", [
        (low(0.02), (0.03, 0.034), [(lower, 1)]),
        (low(0.03), (0.041, 0.044), [(lower, 1)]),
        (low(0.12), (0.043, 0.046), [(lower, 1)]),
        (low(0.6), (0.045, 0.05), [(lower, 1)]),
        (low(0.88), (0.047, 0.052), [(lower, 0.8), (upper, 0.2)]),
        (high(0.0), (0.048, 0.052), [(lower, 0.5), (upper, 0.5)]),
        (high(0.12), (0.049, 0.054), [(lower, 0.2), (upper, 0.8)]),
        (high(0.5), (0.054, 0.06), [(upper, 1)]),
        (high(0.88), (0.06, 0.068), [(upper, 0.8), ("chest", 0.2)]),
        (add(high(1.05), (inward, 0, 0)), (0.06, 0.07), [(upper, 0.5), ("chest", 0.5)]),
        (add(high(1.2), (2 * inward, 0, 0)), (0.03, 0.04), [(upper, 0.2), ("chest", 0.8)]),
    ])
    x, y, z = PLACE[hand]
    ball(mesh, "Skin", (x, y + 0.006, z - 0.055), (0.03, 0.042, 0.075), [(hand, 1)], segments=10)
    thumb = (x * 0.9, y + 0.04, z - 0.035)
    ball(mesh, "Skin", thumb, (0.015, 0.016, 0.04), [(hand, 1)], segments=8)


def torso(mesh):
    def hem(point):
        side = "l" if point[0] < 0 else "r"
        share = 0.45 * min(abs(point[0]) / 0.06, 1)
        return [("hips", 1 - share), (f"thigh_{side}", share)]

    tube(mesh, "Coat", [
        ((0, 0.0, 0.785), (0.15, 0.125), hem),
        ((0, 0.0, 0.775), (0.178, 0.145), hem),
        ((0, 0.0, 0.86), (0.17, 0.135), lambda p: [("hips", 0.8), *hem(p)[1:]]),
        ((0, 0.0, 0.95), (0.158, 0.122), [("hips", 1)]),
        ((0, -0.005, 1.03), (0.146, 0.11), [("hips", 0.6), ("spine", 0.4)]),
        ((0, -0.01, 1.10), (0.145, 0.106), [("hips", 0.2), ("spine", 0.8)]),
        ((0, -0.012, 1.18), (0.152, 0.108), [("spine", 0.7), ("chest", 0.3)]),
        ((0, -0.013, 1.26), (0.165, 0.114), [("spine", 0.25), ("chest", 0.75)]),
        ((0, -0.012, 1.35), (0.178, 0.115), [("chest", 1)]),
        ((0, -0.012, 1.41), (0.17, 0.102), [("chest", 1)]),
        ((0, -0.010, 1.45), (0.128, 0.088), [("chest", 0.9), ("neck", 0.1)]),
        ((0, -0.008, 1.475), (0.075, 0.07), [("chest", 0.6), ("neck", 0.4)]),
        ((0, -0.005, 1.48), (0.04, 0.045), [("chest", 0.5), ("neck", 0.5)]),
    ])
    tube(mesh, "Belt", [
        ((0, -0.004, 1.005), (0.146, 0.11), [("hips", 0.7), ("spine", 0.3)]),
        ((0, -0.004, 1.006), (0.157, 0.121), [("hips", 0.7), ("spine", 0.3)]),
        ((0, -0.005, 1.045), (0.154, 0.118), [("hips", 0.55), ("spine", 0.45)]),
        ((0, -0.005, 1.046), (0.14, 0.105), [("hips", 0.55), ("spine", 0.45)]),
    ])


def head(mesh):
    tube(mesh, "Skin", [
        ((0, -0.005, 1.45), (0.05, 0.052), [("neck", 1)]),
        ((0, 0.0, 1.50), (0.046, 0.05), [("neck", 0.7), ("head", 0.3)]),
        ((0, 0.008, 1.56), (0.05, 0.055), [("head", 1)]),
    ])
    ball(mesh, "Skin", (0, 0.03, 1.645), (0.082, 0.098, 0.122), [("head", 1)], count=11)
    ball(mesh, "Skin", (0, 0.128, 1.635), (0.013, 0.018, 0.022), [("head", 1)], segments=8)
    for x in (-0.034, 0.034):
        ball(mesh, "Eyes", (x, 0.112, 1.66), (0.012, 0.012, 0.016), [("head", 1)], segments=8)
    ball(mesh, "Cap", (0, 0.018, 1.685), (0.094, 0.108, 0.108), [("head", 1)], -8, 90, 8)
    tube(mesh, "Cap", [
        ((0, 0.02, 1.655), (0.086, 0.1), [("head", 1)]),
        ((0, 0.02, 1.655), (0.1, 0.115), [("head", 1)]),
        ((0, 0.02, 1.705), (0.1, 0.115), [("head", 1)]),
        ((0, 0.02, 1.708), (0.09, 0.104), [("head", 1)]),
    ])
    ball(mesh, "Scarf", (0, 0.016, 1.80), (0.03, 0.03, 0.03), [("head", 1)], segments=10)


def scarf(mesh):
    loop = [(1.428, 0.07, 0.072), (1.43, 0.094, 0.098), (1.45, 0.104, 0.107),
            (1.475, 0.1, 0.102), (1.492, 0.085, 0.088), (1.493, 0.06, 0.062)]
    tube(mesh, "Scarf", [((0, -0.006, z), (wide, deep), [("neck", 0.6), ("chest", 0.4)])
                         for z, wide, deep in loop])
    low, middle, high = PLACE["scarf_3"], PLACE["scarf_2"], PLACE["scarf_1"]
    end = add(low, (0.005, -0.005, -0.12))
    tube(mesh, "Scarf", [
        (add(end, (0, 0, 0)), (0.035, 0.003), [("scarf_3", 1)]),
        (add(end, (0, 0, 0.005)), (0.047, 0.011), [("scarf_3", 1)]),
        (add(low, (0, 0, -0.03)), (0.047, 0.012), [("scarf_3", 0.8), ("scarf_2", 0.2)]),
        (add(low, (0, 0, 0.03)), (0.047, 0.012), [("scarf_3", 0.3), ("scarf_2", 0.7)]),
        (add(middle, (0, 0, -0.02)), (0.046, 0.013), [("scarf_2", 0.7), ("scarf_1", 0.3)]),
        (add(middle, (0, 0.005, 0.04)), (0.046, 0.014), [("scarf_2", 0.2), ("scarf_1", 0.8)]),
        (add(high, (0, -0.01, -0.01)), (0.045, 0.018), [("scarf_1", 0.6), ("neck", 0.4)]),
        (add(high, (0, 0.02, 0.03)), (0.03, 0.014), [("neck", 1)]),
    ])


def figure():
    mesh = Mesh()
    for side in "lr":
        leg(mesh, side)
        arm(mesh, side)
    torso(mesh)
    head(mesh)
    scarf(mesh)
    return mesh
