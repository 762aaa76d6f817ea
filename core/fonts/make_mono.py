#!/usr/bin/env python3
"""Writes mono.ttf: the glyphs of Noto Sans Mono that consoles and tables need, without hinting and
without OpenType features. Needs fontTools, and the font's original file, version 2.006.

    python3 core/fonts/make_mono.py NotoSansMono-Regular.ttf
"""

import os
import sys

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

RANGES = [
    (0x20, 0x7E),  # ASCII
    (0xA0, 0x17F),  # Latin
    (0x370, 0x3FF),  # Greek
    (0x400, 0x45F),  # Cyrillic
    (0x490, 0x491),
    (0x2010, 0x203A),  # dashes, quotation marks, dots
    (0x20AC, 0x20AC),
    (0x2190, 0x2195),  # arrows
    (0x2200, 0x2265),  # mathematics
    (0x2500, 0x25CF),  # lines, blocks, shapes
    (0xFFFD, 0xFFFD),
]


def main():
    options = Options()
    options.hinting = False
    options.layout_features = []
    options.notdef_outline = True
    options.drop_tables += ["DSIG", "GDEF", "GPOS", "GSUB", "gasp"]
    font = TTFont(sys.argv[1], recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[code for low, high in RANGES for code in range(low, high + 1)])
    subsetter.subset(font)
    font.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mono.ttf"))


main()
