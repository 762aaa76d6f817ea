"""The plan of the town: which house is where, and everything else on its streets. make_assets.py
writes levels/town.level from it, and ground.py computes from it where little of the sky arrives.

A street leads along y to a square with a clock tower. Metres and degrees, z up, y north.
"""

# Kind of house: (width, depth, height of the eaves), as houses.py builds them.
HOUSES = {
    "eaves": (7.0, 8.0, 9.6),
    "gable": (6.0, 8.0, 6.6),
    "shop": (8.0, 8.0, 9.8),
    "narrow": (5.0, 8.0, 12.4),
}

LEFT = ("shop", "gable", "eaves", "narrow", "shop", "eaves", "gable", "narrow")
RIGHT = ("eaves", "narrow", "shop", "gable", "eaves", "narrow", "gable", "shop")
WEST = ("eaves", "shop", "gable", "narrow")
EAST = ("gable", "eaves", "shop", "narrow")

STREET = (-46.0, 6.0)  # y of its ends
SQUARE = (6.0, 30.0)
FRONT = 4.6  # x of the fronts along the street
SIDE = 13.0  # x of those along the square
ROAD = 3.0  # half of the road between the pavements

PAINTS = ("#d8c3a0", "#b98a72", "#cfcac0", "#8797a0", "#d2b27c", "#a87468", "#9aa48a", "#c9a596")


def row(kinds, x, start, degrees):
    """Houses side by side along y, from `start` on."""
    houses = []
    for kind in kinds:
        width = HOUSES[kind][0]
        houses.append((kind, (x, start + width / 2), degrees))
        start += width
    return houses


def houses():
    """All houses: kind, position (x, y), degrees about z, paint."""
    plan = row(LEFT, -FRONT, STREET[0], 90) + row(RIGHT, FRONT, STREET[0], -90)
    plan += row(WEST, -SIDE, SQUARE[0], 90) + row(EAST, SIDE, SQUARE[0], -90)
    plan += [("shop", (-6.8, 31.0), 0), ("eaves", (6.3, 31.0), 0)]  # on both sides of the tower
    plan += [("eaves", (0.0, -47.0), 180)]  # the end of the street
    # Behind the square, seen over the roofs and through two alleys.
    plan += [("narrow", (-12.0, 46.0), 0), ("gable", (-3.0, 47.0), 0), ("narrow", (5.0, 46.5), 0),
             ("shop", (13.5, 46.0), 0)]
    return [(*house, PAINTS[(5 * i + i // 4) % len(PAINTS)]) for i, house in enumerate(plan)]


def lamps():
    """Street lamps: position, and degrees about z of the arm, which is along x at 0."""
    street = [(side * (ROAD + 0.45), y, 0 if side < 0 else 180)
              for side, y in ((-1, -38), (1, -30), (-1, -22), (1, -14), (-1, -5), (1, 3.5))]
    square = [(side * 9.5, y, 0 if side < 0 else 180) for side in (-1, 1) for y in (12.5, 24.5)]
    return street + square


def festoons():
    """Strings of bulbs across the street: y, and the height of their ends."""
    return [(-27.0, 5.6), (-18.0, 5.4), (-9.5, 5.7), (-1.0, 5.3)]


def trees():
    return [(-10.6, 8.6), (10.6, 8.6), (-7.5, 27.4), (7.5, 27.4)]


def planters():
    return [(-3.9, -17.9), (-3.9, -14.1), (3.9, 0.2), (3.9, 4.0 - 8.0), (-12.3, 15.0), (12.3, 21.0)]


def benches():
    """Position, and degrees about z; a bench looks along -y at 0."""
    return [(-4.4, 17.0, 90), (4.4, 17.0, -90), (-3.95, -9.5, 90), (3.95, -22.5, -90)]


def solid_boxes():
    """Low and high corners of the houses in the world, for shade and collisions."""
    boxes = []
    for kind, (x, y), degrees, _ in houses():
        width, depth, height = HOUSES[kind]
        half = width / 2
        boxes.append({
            0: ((x - half, y, 0), (x + half, y + depth, height)),
            180: ((x - half, y - depth, 0), (x + half, y, height)),
            90: ((x - depth, y - half, 0), (x, y + half, height)),
            -90: ((x, y - half, 0), (x + depth, y + half, height)),
        }[degrees])
    return boxes + [((-2.5, 31.0, 0.0), (2.5, 36.0, 17.0))]


def write_level(path):
    lines = [
        "// The town: houses with their paints, lamps, and the path of the flight. make_assets.py",
        "// writes this file from layout.py.",
        "units = {",
        '  ground = { unit = "units/ground" }',
        '  tower = { unit = "units/tower" position = [0, 31, 0] }',
        '  fountain = { unit = "units/fountain" position = [0, 17, 0] }',
        '  walker = { unit = "units/walker" position = [1.2, -20, 0.1] }',
    ]

    def unit(name, kind, x, y, degrees=0, z=0, data=""):
        turn = f" rotation = [0, 0, {degrees}]" if degrees else ""
        place = f"[{x:g}, {y:g}, {z:g}]"
        line = f'  {name} = {{ unit = "units/{kind}" position = {place}{turn}'
        # Lines are at most 100 characters long.
        lines.append(f"{line}\n   {data}\n  }}" if data else f"{line} }}")

    for i, (kind, (x, y), degrees, paint) in enumerate(houses(), 1):
        unit(f"house_{i}", kind, x, y, degrees, data=f' data = {{ paint = "{paint}" }}')
    for i, (x, y, degrees) in enumerate(lamps(), 1):
        unit(f"lamp_{i}", "lamp", x, y, degrees)
    for i, (y, z) in enumerate(festoons(), 1):
        unit(f"festoon_{i}", "festoon", 0, y, z=z)
    for i, (x, y) in enumerate(trees(), 1):
        unit(f"tree_{i}", "tree", x, y, 40 * i)
    for i, (x, y) in enumerate(planters(), 1):
        unit(f"planter_{i}", "planter", x, y)
    for i, (x, y, degrees) in enumerate(benches(), 1):
        unit(f"bench_{i}", "bench", x, y, degrees)
    lines += [
        "}",
        "splines = {",
        "  // The flight: along the street below the bulbs, around the square, and back.",
        "  flight = {",
        "    points = [[1.2, -34, 1.7], [0.6, -22, 1.5], [-0.6, -10, 1.4], [-1.5, 2, 1.8],",
        "      [-7.5, 12, 2.6], [-6.5, 22, 4], [0, 25.5, 5], [7, 21, 4.2], [8, 11, 2.6],",
        "      [1.8, 0, 1.6], [0.4, -12, 1.5], [1, -24, 1.6]]",
        "    closed = true",
        "  }",
        "}",
    ]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
