#!/usr/bin/env python3
"""Makes models/*.glb, textures/*.png, sounds/*.wav and levels/town.level from nothing but numbers.

    python3 make_assets.py

Python's standard library is enough. The same numbers come out in every run. Lengths are metres with
z up, as in the engine. layout.py is the plan of the town; houses.py, furniture.py and ground.py
make its models, and pictures.py its textures.
"""

import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(HERE), HERE]
import furniture
import ground
import houses
import layout
import pictures
from asset_writer import RATE, blow, partials, write_sound


def rain(path, seconds=4.0):
    """Rain on stone, without a gap where it repeats: a hiss, and single drops on top of it."""
    rng = random.Random(77)
    count = int(seconds * RATE)
    fade = RATE // 2
    samples, low, slow = [], 0.0, 0.0
    for _ in range(count + fade):
        white = rng.uniform(-1, 1)
        low += (white - low) * 0.55
        slow += (white - slow) * 0.06
        samples.append(0.5 * (low - slow) + 0.35 * slow)
    for _ in range(int(70 * seconds)):
        start, hertz = rng.randrange(count), rng.uniform(900, 3800)
        loud, tail = rng.uniform(0.05, 0.4) ** 1.5, rng.uniform(0.003, 0.014)
        for i in range(int(5 * tail * RATE)):
            t = i / RATE
            drop = loud * math.sin(math.tau * hertz * t * (1 + 6 * t)) * math.exp(-t / tail)
            samples[(start + i) % count] += drop
    # The end fades into the beginning.
    for i in range(fade):
        share = i / fade
        samples[i] = samples[i] * math.sqrt(share) + samples[count + i] * math.sqrt(1 - share)
    write_sound(path, samples[:count])


def main():
    pictures.write(os.path.join(HERE, "textures"))
    houses.write(os.path.join(HERE, "models"))
    furniture.write(os.path.join(HERE, "models"))
    ground.write(os.path.join(HERE, "models/ground.glb"))
    rain(os.path.join(HERE, "sounds/rain.wav"))
    # A bell: a deep hum, and partials that are no multiples of it.
    bell = partials(196, (0.5, 1.0, 1.19, 1.5, 2.0, 2.51, 3.01, 4.1), 3.4)
    blow(os.path.join(HERE, "sounds/bell.wav"), 3.6, 5, bell, (0.5, 0.05, 0.3))
    layout.write_level(os.path.join(HERE, "levels/town.level"))


if __name__ == "__main__":
    main()
