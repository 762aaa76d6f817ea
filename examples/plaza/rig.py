"""The skeleton of the figure, turns of its joints, and legs and arms that reach for places. Metres,
z up, y forward, x to the right. In the rest pose no joint is turned."""

import math

JOINTS = [  # name, parent, place in the rest pose
    ("base", None, (0.0, 0.0, 0.0)),
    ("hips", "base", (0.0, 0.0, 0.96)),
    ("spine", "hips", (0.0, -0.01, 1.08)),
    ("chest", "spine", (0.0, -0.015, 1.24)),
    ("neck", "chest", (0.0, -0.005, 1.46)),
    ("head", "neck", (0.0, 0.015, 1.54)),
    ("scarf_1", "neck", (0.05, -0.085, 1.45)),
    ("scarf_2", "scarf_1", (0.06, -0.13, 1.30)),
    ("scarf_3", "scarf_2", (0.065, -0.14, 1.14)),
]
for side, x in (("l", -1), ("r", 1)):
    JOINTS += [
        (f"upper_arm_{side}", "chest", (0.185 * x, 0.0, 1.405)),
        (f"lower_arm_{side}", f"upper_arm_{side}", (0.235 * x, -0.012, 1.135)),
        (f"hand_{side}", f"lower_arm_{side}", (0.262 * x, 0.012, 0.895)),
    ]
for side, x in (("l", -1), ("r", 1)):
    JOINTS += [
        (f"thigh_{side}", "hips", (0.095 * x, 0.0, 0.92)),
        (f"shin_{side}", f"thigh_{side}", (0.100 * x, 0.014, 0.50)),
        (f"foot_{side}", f"shin_{side}", (0.100 * x, -0.02, 0.09)),
        (f"toe_{side}", f"foot_{side}", (0.105 * x, 0.125, 0.03)),
    ]
NAMES = [name for name, _, _ in JOINTS]
PARENT = {name: parent for name, parent, _ in JOINTS}
PLACE = {name: place for name, _, place in JOINTS}
NO_TURN = (0.0, 0.0, 0.0, 1.0)


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def scaled(a, k):
    return tuple(x * k for x in a)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return scaled(a, 1 / math.sqrt(dot(a, a)))


def mix(a, b, t):
    return a + (b - a) * t


def turn(axis, degrees):
    """A rotation as (x, y, z, w) around "x", "y" or "z"."""
    half = math.radians(degrees) / 2
    s = math.sin(half)
    return {"x": (s, 0, 0), "y": (0, s, 0), "z": (0, 0, s)}[axis] + (math.cos(half),)


def times(a, b):
    """The rotation b, then a."""
    v = add(add(scaled(b[:3], a[3]), scaled(a[:3], b[3])), cross(a[:3], b[:3]))
    return v + (a[3] * b[3] - dot(a[:3], b[:3]),)


def turns(**degrees):
    """A rotation around z, then x, then y, in the order in which a body turns, bends and tilts."""
    result = NO_TURN
    for axis in ("z", "x", "y"):
        if degrees.get(axis):
            result = times(result, turn(axis, degrees[axis]))
    return result


def back(q):
    return scaled(q[:3], -1) + (q[3],)


def rotated(q, v):
    t = scaled(cross(q[:3], v), 2)
    return add(add(v, scaled(t, q[3])), cross(q[:3], t))


def from_axes(x, y, z):
    """The rotation that turns the axes of the world into three others at right angles."""
    trace = x[0] + y[1] + z[2]
    if trace > 0:
        s = 2 * math.sqrt(trace + 1)
        q = ((y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s, s / 4)
    elif x[0] > y[1] and x[0] > z[2]:
        s = 2 * math.sqrt(1 + x[0] - y[1] - z[2])
        q = (s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s)
    elif y[1] > z[2]:
        s = 2 * math.sqrt(1 + y[1] - x[0] - z[2])
        q = ((y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s, (z[0] - x[2]) / s)
    else:
        s = 2 * math.sqrt(1 + z[2] - x[0] - y[1])
        q = ((z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4, (x[1] - y[0]) / s)
    size = math.sqrt(sum(part * part for part in q))
    return tuple(part / size for part in q)


def frame(down, pole):
    """The rotation of a limb that points along `down` and bends towards `pole`."""
    z = scaled(unit(down), -1)
    x = unit(cross(pole, z))
    return from_axes(x, cross(z, x), z)


class Pose:
    """Rotations of joints within their parents, and the place of the hips."""

    def __init__(self, offset=(0.0, 0.0, 0.0), **rotations):
        self.hips = add(PLACE["hips"], offset)
        self.rotations = dict(rotations)

    def world(self, name):
        """The place and the rotation of a joint in the space of the model."""
        parent = PARENT[name]
        if parent is None:
            return PLACE[name], NO_TURN
        place, rotation = self.world(parent)
        offset = self.hips if name == "hips" else sub(PLACE[name], PLACE[parent])
        return add(place, rotated(rotation, offset)), times(rotation, self.local(name))

    def local(self, name):
        return self.rotations.get(name, NO_TURN)

    def set_world(self, name, rotation):
        self.rotations[name] = times(back(self.world(PARENT[name])[1]), rotation)

    def reach(self, upper, lower, end, target, pole):
        """Bends a limb so that `end` comes to `target`; its middle joint points towards `pole`."""
        start, _ = self.world(upper)
        a, b = (math.dist(PLACE[upper], PLACE[lower]), math.dist(PLACE[lower], PLACE[end]))
        way = sub(target, start)
        far = min(max(math.sqrt(dot(way, way)), 0.05), (a + b) * 0.9995)
        way = unit(way)
        along = (a * a - b * b + far * far) / (2 * far)
        aside = math.sqrt(max(a * a - along * along, 0.0))
        out = unit(sub(pole, scaled(way, dot(pole, way))))
        middle = add(start, add(scaled(way, along), scaled(out, aside)))
        rest_pole = (0.0, 1.0, 0.0) if upper.startswith("thigh") else (0.0, -1.0, 0.0)
        for joint, following, goal in ((upper, lower, middle),
                                       (lower, end, add(start, scaled(way, far)))):
            rest = frame(sub(PLACE[following], PLACE[joint]), rest_pole)
            now = frame(sub(goal, self.world(joint)[0]), out)
            self.set_world(joint, times(now, back(rest)))

    def stand(self, side, ankle, pitch=0.0, yaw=0.0, out=0.0):
        """Puts a foot: the place of its ankle, and how far its toes point down and outward."""
        _, hips = self.world("hips")
        x = -1 if side == "l" else 1
        pole = rotated(times(hips, turn("z", -yaw * x)), (out * x, 1.0, 0.0))
        self.reach(f"thigh_{side}", f"shin_{side}", f"foot_{side}", ankle, pole)
        self.set_world(f"foot_{side}", turns(z=-yaw * x, x=-pitch))

    def touch(self, side, place, pole=(0.0, -1.0, 0.0)):
        """Puts a hand to a place; the elbow points towards `pole`."""
        self.reach(f"upper_arm_{side}", f"lower_arm_{side}", f"hand_{side}", place, pole)
