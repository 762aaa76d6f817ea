#!/usr/bin/env python3
"""Makes models/*.glb and sounds/*.wav of this example from nothing but numbers.

    python3 make_assets.py

Python's standard library is enough. The same numbers come out in every run. rig.py has the skeleton
of the figure, body.py its mesh, and clips.py its clips.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(HERE))
from asset_writer import Glb, Mesh, arc, blow, lathe, material
from body import figure
from clips import CLIPS
from rig import JOINTS, NAMES, PLACE, sub
from square import square

MATERIALS = {
    "Coat": material("#f08a2c", 0.8),
    "Trousers": material("#3f4a63", 0.85),
    "Boots": material("#4a3225", 0.6),
    "Belt": material("#2b2320", 0.5),
    "Skin": material("#d9a27a", 0.6),
    "Eyes": material("#20242b", 0.3),
    "Cap": material("#2c7f86", 0.85),
    "Scarf": material("#d8433b", 0.9),
    "Stone": material("#c9b79c", 0.85, picture="tiles"),
    "Steps": material("#ddcfb8", 0.8, picture="panels"),
    "Plaster": material("#e8dcc4", 0.95, picture="panels"),
    "Rose": material("#d99a86", 0.95, picture="panels"),
    "Sand": material("#d9b878", 0.95, picture="panels"),
    "Frame": material("#f4efe4", 0.7),
    "Glass": material("#39536b", 0.15),
    "Glow": material("#ffd08a", 1.0, emissive=3.0),
    "Door": material("#54432f", 0.7, picture="planks"),
    "Wood": material("#8a5a34", 0.75, picture="planks"),
    "Iron": material("#23272c", 0.45, 0.5),
    "Water": material("#3f8fa8", 0.08),
    "Leaf": material("#5d8a3c", 0.95),
    "Earth": material("#4d3b2a", 1.0),
}
KEYS_PER_SECOND = 30
LICENCE = "MIT OR Apache-2.0"


def file_of(name):
    return os.path.join(HERE, name)


def figure_model():
    glb = Glb(MATERIALS, LICENCE)
    nodes = {}
    for name, parent, place in reversed(JOINTS):  # children first
        children = [nodes[child] for child, above, _ in JOINTS if above == name]
        nodes[name] = glb.node(name, place=sub(place, PLACE[parent]) if parent else place,
                               children=children)
    skin = glb.skin("Figure", [(nodes[name], PLACE[name]) for name in NAMES])
    glb.top(nodes["base"], glb.node("Body", figure(), skin=skin))
    for name, (seconds, pose_at) in CLIPS.items():
        count = max(round(seconds * KEYS_PER_SECOND), 1)
        times = [seconds * i / count for i in range(count + 1)]
        poses = [pose_at(time) for time in times]
        moved = [name for name in NAMES if any(name in pose.rotations for pose in poses)]
        tracks = {(nodes[name], "rotation"): [pose.local(name) for pose in poses]
                  for name in moved}
        tracks[(nodes["hips"], "translation")] = [pose.hips for pose in poses]
        glb.animation(name, times, tracks)
    glb.write(file_of("models/figure.glb"))


def square_model():
    glb = Glb(MATERIALS, LICENCE)
    square(glb)
    glb.write(file_of("models/square.glb"))


def ball_model():
    glb, mesh = Glb(MATERIALS, LICENCE), Mesh()
    bands = [("Scarf", -90, -12), ("Frame", -12, 12), ("Scarf", 12, 90)]
    lathe(mesh, [(look, arc(0.11, 0.0, low, high, 6)) for look, low, high in bands], 16)
    glb.top(glb.node("Ball", mesh))
    glb.write(file_of("models/ball.glb"))


def sounds():
    hit = lambda name, *sound: blow(file_of(f"sounds/{name}.wav"), *sound)
    hit("step_1", 0.14, 1, [(140, 0.5, 0.05)], (1.6, 0.06, 0.55), 0.6)
    hit("step_2", 0.14, 2, [(122, 0.5, 0.05)], (1.7, 0.07, 0.6), 0.6)
    hit("step_3", 0.14, 3, [(155, 0.4, 0.05)], (1.5, 0.05, 0.5), 0.6)
    hit("land", 0.3, 4, [(78, 1.0, 0.16), (150, 0.4, 0.08)], (1.8, 0.12, 0.7), 0.8)
    hit("throw", 0.28, 5, [], (1.0, 0.3, 0.35))
    hit("hit", 0.3, 6, [(210, 1.0, 0.14), (330, 0.5, 0.1)], (1.4, 0.06, 0.4), 0.9)
    hit("bounce", 0.2, 7, [(260, 1.0, 0.1), (521, 0.4, 0.06)], (0.5, 0.03, 0.5), 0.6)


if __name__ == "__main__":
    figure_model()
    square_model()
    ball_model()
    sounds()
