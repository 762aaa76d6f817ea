#!/usr/bin/env python3
"""Makes of a screenshot the picture of a page: smaller, with 256 colours, so that it weighs little.

    engine run examples/crowd --headless --renderer software --frames 900 --screenshot shot.png
    python3 examples/make_picture.py shot.png examples/crowd/picture.png 880

With --strip 4 before them, several screenshots of one size become one picture, four in a row. Needs
nothing but Python. The last argument is the width. Colours are those of a median cut:
P. Heckbert, "Color image quantization for frame buffer display", SIGGRAPH 1982.
"""

import pathlib
import struct
import sys
import zlib

COLORS = 256
GAP = 6  # pixels between the pictures of a strip
NOISE = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))


def read_png(path):
    """Width, height, and rows of red, green and blue bytes."""
    data = pathlib.Path(path).read_bytes()
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, form = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    if bits != 8 or form not in (2, 6):
        sys.exit(f"{path}: only PNGs of 8 bits with red, green and blue are read")
    size = 3 if form == 2 else 4
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * size)
    for row in range(height):
        start = row * (width * size + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        line = unfiltered(raw[start], line, above, size)
        rows.append(line if size == 3 else bytearray(b for i, b in enumerate(line) if i % 4 < 3))
        above = line
    return width, height, rows


def unfiltered(kind, line, above, size):
    for i in range(len(line) if kind else 0):
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        guess = left + above[i] - corner
        nearest = min((left, above[i], corner), key=lambda byte: abs(guess - byte))
        line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[kind]) & 255
    return line


def shrunk(width, height, rows, wide):
    """The same with another width: each new pixel is the mean of what it covers."""
    tall = round(height * wide / width)
    out = []
    for row in range(tall):
        top, bottom = row * height / tall, (row + 1) * height / tall
        sums = [0.0] * (width * 3)
        for y in range(int(top), min(height, int(bottom - 1e-9) + 1)):
            share = min(bottom, y + 1) - max(top, y)
            sums = [a + b * share for a, b in zip(sums, rows[y])]
        line = []
        for column in range(wide):
            left, right = column * width / wide, (column + 1) * width / wide
            pixel = [0.0, 0.0, 0.0]
            for x in range(int(left), min(width, int(right - 1e-9) + 1)):
                share = min(right, x + 1) - max(left, x)
                pixel = [pixel[part] + sums[3 * x + part] * share for part in range(3)]
            area = (right - left) * (bottom - top)
            line.append(tuple(min(255, round(part / area)) for part in pixel))
        out.append(line)
    return out


def dithered(lines):
    """Ordered noise of a few steps, so that soft light has no edges where colours are few."""
    for y, line in enumerate(lines):
        for x, color in enumerate(line):
            step = NOISE[y % 4][x % 4] - 7.5
            line[x] = tuple(max(0, min(255, round(part + step * 0.5))) for part in color)
    return lines


def palette_of(lines):
    """256 colours, and which of them each colour of the picture becomes."""
    counts = {}
    for line in lines:
        for color in line:
            key = (color[0] >> 2, color[1] >> 2, color[2] >> 2)
            total = counts.setdefault(key, [0, 0, 0, 0])
            total[3] += 1
            for part in range(3):
                total[part] += color[part]

    def spread(box):
        ranges = [max(c[part] for c in box) - min(c[part] for c in box) for part in range(3)]
        return max(ranges) * sum(counts[c][3] for c in box) ** 0.4, ranges.index(max(ranges))

    boxes = [(*spread(list(counts)), list(counts))]
    while len(boxes) < COLORS:
        boxes.sort(key=lambda box: box[0])
        _, part, box = boxes.pop()
        box.sort(key=lambda color: color[part])
        half, so_far, cut = sum(counts[c][3] for c in box) / 2, 0, 1
        for cut in range(1, len(box)):
            so_far += counts[box[cut - 1]][3]
            if so_far >= half:
                break
        boxes += [(*spread(side), side) for side in (box[:cut], box[cut:]) if side]
    palette, index = [], {}
    for number, (_, _, box) in enumerate(boxes):
        weight = sum(counts[c][3] for c in box)
        palette.append([round(sum(counts[c][part] for c in box) / weight) for part in range(3)])
        index.update((color, number) for color in box)
    return palette, index


def write_png(path, lines, palette, index):
    def chunk(kind, data):
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    raw = b"".join(b"\0" + bytes(index[r >> 2, g >> 2, b >> 2] for r, g, b in line)
                   for line in lines)
    head = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 3, 0, 0, 0)
    colors = b"".join(bytes(color) for color in palette)
    data = chunk(b"IHDR", head) + chunk(b"PLTE", colors)
    data += chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + data)


def strip(pictures, columns):
    """Several pictures of one size as one, in rows, with white between them."""
    width, height, _ = pictures[0]
    if any(picture[:2] != (width, height) for picture in pictures):
        sys.exit("the pictures of a strip have one size")
    white, whole = b"\xff" * 3 * GAP, columns * width + (columns - 1) * GAP
    rows = []
    for first in range(0, len(pictures), columns):
        if first:
            rows += [bytearray(b"\xff" * 3 * whole)] * GAP
        chosen = pictures[first : first + columns]
        for y in range(height):
            line = white.join(bytes(picture[2][y]) for picture in chosen)
            rows.append(bytearray(line.ljust(3 * whole, b"\xff")))
    return whole, len(rows), rows


def main():
    names, columns = sys.argv[1:], None
    if names[:1] == ["--strip"] and len(names) > 4:
        columns, names = int(names[1]), names[2:]
    if len(names) < 3 or len(names) > 3 and columns is None:
        sys.exit(__doc__)
    *sources, target, wide = names
    pictures = [read_png(name) for name in sources]
    width, height, rows = strip(pictures, columns) if columns else pictures[0]
    lines = dithered(shrunk(width, height, rows, int(wide)))
    write_png(target, lines, *palette_of(lines))


if __name__ == "__main__":
    main()
