"""The ground of the town: a road of cobbles, a square, pavements of slabs, grass around them."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from asset_writer import Glb, Mesh, box, material, shader

import furniture
import layout

MATERIALS = {
    "Road": material("#ffffff", 0.8), "Pavement": material("#ffffff", 0.8),
    "Kerb": material("#8d8a84", 0.75), "Grass": material("#2b3a22", 1.0), **furniture.MATERIALS,
}
KERB = 0.1  # the height of the pavements
UP = (0.0, 0.0, 1.0)


def field(mesh, look, low, high, z, shade, cell=1.0):
    """A flat rectangle, whose corners are near enough for soft shade along walls."""
    (x, y), (X, Y) = low, high
    columns, rows = max(1, round((X - x) / cell)), max(1, round((Y - y) / cell))
    grid = []
    for j in range(rows + 1):
        row = []
        for i in range(columns + 1):
            place = (x + (X - x) * i / columns, y + (Y - y) * j / rows, z)
            row.append((place, UP, (place[0] / 2, place[1] / 2), shade(place, UP)))
        grid.append(row)
    mesh.grid(look, grid)


def write(path):
    walls = layout.solid_boxes()
    shade = shader(walls)
    near = lambda place, normal: shade(place, normal) if max(map(abs, place[:2])) < 60 else 1.0
    start, end = layout.STREET
    road, front, side = layout.ROAD, layout.FRONT, layout.SIDE
    ways, pavement, grass = Mesh(), Mesh(), Mesh()
    field(ways, "Road", (-road, start - 1), (road, end), 0, near)
    field(ways, "Road", (-side + 1.4, end), (side - 1.4, 29.6), 0, near)
    strips = [((-front, start - 1), (-road, end)), ((road, start - 1), (front, end)),
              ((-side, end), (-side + 1.4, 31)), ((side - 1.4, end), (side, 31)),
              ((-side + 1.4, 29.6), (side - 1.4, 31))]
    for low, high in strips:
        field(pavement, "Pavement", low, high, KERB, near, 0.8)
    # Kerbs face the road: faces of boxes between the road and a strip.
    for low, high, faces in (
        ((-road - 0.15, start - 1, 0), (-road, end, KERB + 0.012), "XyYZ"),
        ((road, start - 1, 0), (road + 0.15, end, KERB + 0.012), "xyYZ"),
        ((-side + 1.25, end, 0), (-side + 1.4, 29.6, KERB + 0.012), "XyYZ"),
        ((side - 1.4, end, 0), (side - 1.25, 29.6, KERB + 0.012), "xyYZ"),
        ((-side + 1.4, 29.6, 0), (side - 1.4, 29.75, KERB + 0.012), "yZ"),
    ):
        box(pavement, "Kerb", low, high, 2.0, lambda place, normal: 0.85, faces)
    field(grass, "Grass", (-130, -130), (130, 130), -0.03, lambda place, normal: 0.8, 52)
    slabs = [{"shape": "box", "size": [260, 260, 1], "position": [0, 0, -0.5]}]
    for (x, y), (X, Y) in strips:
        slabs.append({"shape": "box", "size": [X - x, Y - y, 1],
                      "position": [(x + X) / 2, (y + Y) / 2, KERB - 0.5]})
    body = {"type": "static", "filter": "level", "shapes": slabs}
    glb = Glb(MATERIALS)
    glb.top(glb.node("Road", ways, extras={"physics": body}))
    kerbs = Mesh()
    kerbs.parts = {"Kerb": pavement.parts.pop("Kerb")}
    glb.top(glb.node("Pavement", pavement), glb.node("Kerb", kerbs), glb.node("Grass", grass))
    furniture.hills(glb)
    glb.write(path)
