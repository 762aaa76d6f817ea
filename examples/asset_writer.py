"""Shared by the make_assets.py of the examples in 3D: grey pictures, meshes, binary glTF files, and
sounds, made from nothing but numbers.

Python's standard library is enough. The same numbers come out in every run. Lengths are metres with
z up, as in the engine; Glb turns them into glTF's y up.
"""

import json
import math
import os
import random
import struct
import wave
import zlib

# --- Pictures: grey, so that a material's colour paints them -------------------------------------


def png(size, shade):
    """A grey PNG of shade(x, y), from 0 to 255."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)  # the row's filter: none
        rows.extend(max(0, min(255, int(shade(x, y)))) for x in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data
        out += struct.pack(">I", zlib.crc32(kind + data))
    return out


def noise(seed, size, cells_x, cells_y):
    """Smooth noise that repeats: a function of x and y, from -1 to 1."""
    rng = random.Random(seed)
    grid = [[rng.uniform(-1, 1) for _ in range(cells_x)] for _ in range(cells_y)]

    def at(x, y):
        x, y = x * cells_x / size, y * cells_y / size
        left, low = int(x), int(y)
        s, t = x - left, y - low
        s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
        near, far = grid[low % cells_y], grid[(low + 1) % cells_y]
        a, b = left % cells_x, (left + 1) % cells_x
        return (near[a] * (1 - s) + near[b] * s) * (1 - t) + (far[a] * (1 - s) + far[b] * s) * t

    return at


def tiles(size=128, count=4):
    """Stone tiles with dark joints: two metres of floor."""
    rng = random.Random(7)
    side = size // count
    shades = [[rng.uniform(-9, 9) for _ in range(count)] for _ in range(count)]
    clouds, grain = noise(1, size, 8, 8), noise(2, size, 64, 64)

    def shade(x, y):
        if x % side == 0 or y % side == 0:
            return 150
        return 226 + shades[y // side][x // side] + 6 * clouds(x, y) + 3 * round(grain(x, y) * 2)

    return png(size, shade)


def planks(size=128, count=8):
    """Boards along v, with their grain: one metre of wood."""
    rng = random.Random(11)
    side = size // count
    shades = [rng.uniform(-24, 16) for _ in range(count)]
    grain, fine = noise(3, size, 32, 4), noise(4, size, 64, 8)

    def shade(x, y):
        edge = 70 if x % side == 0 else 0
        return 218 + shades[x // side] + 16 * grain(x, y) + 4 * round(fine(x, y) * 2) - edge

    return png(size, shade)


def panels(size=128):
    """Cast concrete: a panel of two metres with its joints and the four holes of its mould."""
    clouds, grain = noise(5, size, 5, 5), noise(6, size, 64, 64)

    def shade(x, y):
        if x < 1 or y < 1:
            return 160
        hole = math.hypot(abs(x - size / 2) - size / 4, abs(y - size / 2) - size / 4)
        return 228 + 9 * clouds(x, y) + 3 * round(grain(x, y)) - (80 if hole < 2 else 0)

    return png(size, shade)


PICTURES = {"tiles": tiles, "planks": planks, "panels": panels}


# --- Meshes --------------------------------------------------------------------------------------


class Mesh:
    """Triangles by their material."""

    def __init__(self):
        self.parts = {}

    def grid(self, material, rows):
        """Rows of points (position, normal, uv, shade) with a skin of triangles over them."""
        points, indices = self.parts.setdefault(material, ([], []))
        first, width = len(points), len(rows[0])
        for row in rows:
            points.extend(row)
        for y in range(len(rows) - 1):
            for x in range(width - 1):
                a = first + y * width + x
                b, c, d = a + 1, a + width, a + width + 1
                indices.extend((a, b, d, a, d, c))


def cuts(low, high, cell=1.8, edge=0.4):
    """Places along an edge: more of them near its ends, where shade changes most."""
    if high - low < 3 * edge:
        return [low, high]
    count = math.ceil((high - low - 2 * edge) / cell)
    inner = [low + edge + (high - low - 2 * edge) * i / count for i in range(count + 1)]
    return [low, *inner, high]


def quad(mesh, material, origin, across, up, metres, shade):
    """A wall from origin along two ways; its texture covers so many metres."""
    normal = cross(across, up)
    normal = scaled(normal, 1 / length(normal))
    rows = []
    for v in cuts(0, length(up)):
        row = []
        for u in cuts(0, length(across)):
            place = add(origin, scaled(across, u / length(across)), scaled(up, v / length(up)))
            # From the place in the world, so that neighbours go on where this one ends.
            flat = [c for c, n in zip(place, normal) if abs(n) < 0.6]
            uv = (flat[0] / metres, flat[1] / metres) if len(flat) == 2 else (u, v)
            row.append((place, normal, uv, shade(place, normal)))
        rows.append(row)
    mesh.grid(material, rows)


def box(mesh, material, low, high, metres, shade, faces="xXyYzZ"):
    """A box; `faces` are those that can be seen: small letters look down an axis, capitals up."""
    (x, y, z), (X, Y, Z) = low, high
    size = (X - x, Y - y, Z - z)
    along = [(size[0], 0, 0), (0, size[1], 0), (0, 0, size[2])]
    back = [scaled(way, -1) for way in along]
    for name, origin, across, up in (
        ("x", (x, Y, z), back[1], along[2]),
        ("X", (X, y, z), along[1], along[2]),
        ("y", (x, y, z), along[0], along[2]),
        ("Y", (X, Y, z), back[0], along[2]),
        ("z", (x, Y, z), along[0], back[1]),
        ("Z", (x, y, Z), along[0], along[1]),
    ):
        if name in faces:
            quad(mesh, material, origin, across, up, metres, shade)


def lathe(mesh, profile, segments=16, turns=1.0):
    """Turns strips of (radius, z) points, each strip of one material, about the z axis."""
    for material, strip in profile:
        rows = []
        for i, (radius, z) in enumerate(strip):
            (r0, z0), (r1, z1) = strip[max(i - 1, 0)], strip[min(i + 1, len(strip) - 1)]
            out, rise = z1 - z0, r0 - r1  # at right angles to the way from one to the next
            size = math.hypot(out, rise) or 1
            row = []
            for s in range(segments + 1):
                angle = math.tau * s / segments
                c, d = math.cos(angle), math.sin(angle)
                normal = (c * out / size, d * out / size, rise / size)
                row.append(((radius * c, radius * d, z), normal, (turns * s / segments, z), 1.0))
            rows.append(row)
        mesh.grid(material, rows)


def arc(radius, middle, start, end, count):
    """Points of a ball's profile, from an angle to another; -90 degrees is its bottom."""
    angles = [math.radians(start + (end - start) * i / count) for i in range(count + 1)]
    return [(radius * max(math.cos(a), 0.0), middle + radius * math.sin(a)) for a in angles]


def add(*vectors):
    return tuple(sum(parts) for parts in zip(*vectors))


def scaled(vector, factor):
    return tuple(part * factor for part in vector)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(vector):
    return math.sqrt(sum(part * part for part in vector))


# --- Shade in corners: how much of the sky above a point is hidden by boxes ----------------------

RAYS = 40
REACH = 3.5


def shader(boxes):
    """A function of place and normal: 1 in the open, less where boxes are near."""
    golden = math.pi * (3 - math.sqrt(5))
    rays = []
    for i in range(RAYS):  # more of them near the normal, which counts most
        height = math.sqrt(1 - (i + 0.5) / RAYS)
        radius = math.sqrt(1 - height * height)
        rays.append((radius * math.cos(i * golden), radius * math.sin(i * golden), height))

    def nearest(start, way):
        best = REACH
        for low, high in boxes:
            enter, leave = 0.0, best
            for s, w, a, b in zip(start, way, low, high):
                if abs(w) < 1e-9:
                    if s < a or s > b:
                        leave = -1.0
                        break
                    continue
                t0, t1 = (a - s) / w, (b - s) / w
                enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
                if enter > leave:
                    break
            if enter <= leave:
                best = enter
        return best

    def shade(place, normal):
        side = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0)
        side = cross(normal, side)
        side = scaled(side, 1 / length(side))
        other = cross(normal, side)
        start = add(place, scaled(normal, 0.02))
        hidden = 0.0
        for a, b, c in rays:
            way = add(scaled(side, a), scaled(other, b), scaled(normal, c))
            hidden += 1 - nearest(start, way) / REACH
        return 1 - 0.85 * hidden / RAYS

    return shade


# --- glTF ----------------------------------------------------------------------------------------


def linear(code):
    """The colour of "#rrggbb" as linear light."""
    parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [round(p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4, 4) for p in parts]


def material(color, roughness, metallic=0.0, picture=None, emissive=0.0):
    """A material; `picture` is one of PICTURES, and `emissive` how many times brighter than white
    it shines by itself."""
    return {"color": color, "roughness": roughness, "metallic": metallic, "picture": picture,
            "emissive": emissive}


class Glb:
    """A binary glTF file while it is collected. `materials` are the material() by name. `licence` is
    the text of `asset.copyright`, which stays with the file when it is copied."""

    def __init__(self, materials, licence=None):
        self.materials = materials
        self.data = bytearray()
        self.names = []
        self.json = {
            "asset": {"version": "2.0", "generator": "make_assets.py"},
            "scene": 0, "scenes": [{"nodes": []}], "nodes": [],
            "meshes": [], "materials": [], "accessors": [], "bufferViews": [],
        }
        if licence:
            self.json["asset"]["copyright"] = licence

    def put(self, key, value):
        self.json.setdefault(key, []).append(value)
        return len(self.json[key]) - 1

    def view(self, data, **fields):
        self.data.extend(b"\0" * (-len(self.data) % 4))
        place = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **fields}
        self.data.extend(data)
        return self.put("bufferViews", place)

    def accessor(self, kind, component, count, data, **fields):
        view = self.view(data, target=34963 if kind == "SCALAR" else 34962)
        return self.put("accessors", {"bufferView": view, "componentType": component,
                                      "count": count, "type": kind, **fields})

    def material(self, name):
        if name in self.names:
            return self.names.index(name)
        self.names.append(name)
        made = self.materials[name]
        color = linear(made["color"])
        surface = {"baseColorFactor": [*color, 1], "roughnessFactor": made["roughness"],
                   "metallicFactor": made["metallic"]}
        if made["picture"]:
            view = self.view(PICTURES[made["picture"]]())
            image = self.put("images", {"bufferView": view, "mimeType": "image/png"})
            surface["baseColorTexture"] = {"index": self.put("textures", {"source": image})}
        entry = {"name": name, "pbrMetallicRoughness": surface}
        if made["emissive"]:
            entry["emissiveFactor"] = color
            strength = {"emissiveStrength": made["emissive"]}
            entry["extensions"] = {"KHR_materials_emissive_strength": strength}
            self.use("KHR_materials_emissive_strength")
        return self.put("materials", entry)

    def use(self, extension):
        if extension not in self.json.setdefault("extensionsUsed", []):
            self.json["extensionsUsed"].append(extension)

    def mesh(self, name, mesh):
        primitives = []
        for part, (points, indices) in mesh.parts.items():
            count = len(points)
            turned = lambda v: (v[0], v[2], -v[1])  # z up becomes y up
            places = [turned(point[0]) for point in points]
            pack = lambda rows: b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
            shades = [max(0, min(255, round(255 * point[3]))) for point in points]
            bounds = {"min": [min(axis) for axis in zip(*places)],
                      "max": [max(axis) for axis in zip(*places)]}
            # The bounds must be those of the 32-bit numbers that are written.
            bounds = {key: [struct.unpack("<f", struct.pack("<f", v))[0] for v in value]
                      for key, value in bounds.items()}
            attributes = {
                "POSITION": self.accessor("VEC3", 5126, count, pack(places), **bounds),
                "NORMAL": self.accessor("VEC3", 5126, count, pack(turned(p[1]) for p in points)),
                "TEXCOORD_0": self.accessor("VEC2", 5126, count, pack(p[2] for p in points)),
            }
            if len(points[0]) > 4:
                attributes.update(self.skinning([point[4] for point in points]))
            if min(shades) < 255:
                colors = b"".join(bytes((s, s, s, 255)) for s in shades)
                attributes["COLOR_0"] = self.accessor("VEC4", 5121, count, colors, normalized=True)
            numbers = struct.pack(f"<{len(indices)}H", *indices)
            primitives.append({
                "attributes": attributes, "material": self.material(part),
                "indices": self.accessor("SCALAR", 5123, len(indices), numbers),
            })
        return self.put("meshes", {"name": name, "primitives": primitives})

    def skinning(self, weights):
        """The joints of points: up to four pairs (joint, weight) each."""
        rows = [([*pairs, (0, 0), (0, 0), (0, 0)])[:4] for pairs in weights]
        joints = b"".join(bytes(joint for joint, _ in row) for row in rows)
        shares = b"".join(struct.pack("<4f", *(share for _, share in row)) for row in rows)
        return {"JOINTS_0": self.accessor("VEC4", 5121, len(rows), joints),
                "WEIGHTS_0": self.accessor("VEC4", 5126, len(rows), shares)}

    def skin(self, name, joints):
        """A skin of nodes that stand unturned at their places in the rest pose: (node, place)."""
        back = b"".join(struct.pack("<16f", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -z, y, 1)
                        for _, (x, y, z) in joints)
        matrices = self.put("accessors", {"bufferView": self.view(back), "componentType": 5126,
                                          "count": len(joints), "type": "MAT4"})
        return self.put("skins", {"name": name, "joints": [node for node, _ in joints],
                                  "inverseBindMatrices": matrices})

    def animation(self, name, times, tracks):
        """A clip: for (node, "rotation") rows (x, y, z, w), for (node, "translation") places."""
        def numbers(kind, rows, **fields):
            data = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
            return self.put("accessors", {"bufferView": self.view(data), "componentType": 5126,
                                          "count": len(rows), "type": kind, **fields})

        # The bounds must be those of the 32-bit numbers that are written.
        ends = [struct.unpack("<f", struct.pack("<f", time))[0] for time in (times[0], times[-1])]
        keys = numbers("SCALAR", [(time,) for time in times], min=ends[:1], max=ends[1:])
        channels, samplers = [], []
        for (node, path), rows in tracks.items():
            turned = [(row[0], row[2], -row[1], *row[3:]) for row in rows]
            output = numbers("VEC4" if path == "rotation" else "VEC3", turned)
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
            samplers.append({"input": keys, "output": output, "interpolation": "LINEAR"})
        self.put("animations", {"name": name, "channels": channels, "samplers": samplers})

    def node(self, name, mesh=None, place=(0, 0, 0), children=(), **fields):
        node = {"name": name, **fields}
        if mesh is not None:  # a mesh, or the number of one that other nodes show, too
            node["mesh"] = mesh if isinstance(mesh, int) else self.mesh(name, mesh)
        if any(place):
            node["translation"] = [place[0], place[2], -place[1]]
        if children:
            node["children"] = list(children)
        return self.put("nodes", node)

    def lamp(self, name, place, color, intensity, reach):
        """A lamp of KHR_lights_punctual, which shines to all sides."""
        self.use("KHR_lights_punctual")
        lights = self.json.setdefault("extensions", {}).setdefault("KHR_lights_punctual", {})
        lights = lights.setdefault("lights", [])
        fields = {"extensions": {"KHR_lights_punctual": {"light": len(lights)}}}
        # Candelas divided by pi are the engine's intensity.
        lights.append({"type": "point", "color": linear(color), "range": reach,
                       "intensity": round(intensity * math.pi, 4)})
        self.top(self.node(name, place=place, **fields))

    def top(self, *nodes):
        self.json["scenes"][0]["nodes"].extend(nodes)

    def write(self, path):
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self.data) + b"\0" * (-len(self.data) % 4)
        body = struct.pack("<II", len(text), 0x4E4F534A) + text
        body += struct.pack("<II", len(data), 0x004E4942) + data
        save(path, struct.pack("<III", 0x46546C67, 2, 12 + len(body)) + body)


def save(path, data):
    """Writes a file, and prints its size."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    print(f"{len(data):8,} {os.path.relpath(path)}")


# --- Sounds --------------------------------------------------------------------------------------

RATE = 16000


def blow(path, seconds, seed, tones, click, hum=0.0):
    """A blow: tones (hertz, loudness, seconds until it has faded) over a click of filtered noise
    (loudness, seconds, how dull from 0 to 1); `hum` bends the tones down as a hollow body does."""
    rng = random.Random(seed)
    loud, fade, dull = click
    low, samples = 0.0, []
    for i in range(int(seconds * RATE)):
        t = i / RATE
        low += (rng.uniform(-1, 1) - low) * (1 - dull)
        value = loud * low * math.exp(-5 * t / fade)
        for hertz, volume, tail in tones:
            bent = t + hum * (1 - math.exp(-40 * t)) / 40
            value += volume * math.sin(math.tau * hertz * bent) * math.exp(-5 * t / tail)
        samples.append(value * min(1, t * 2000) * min(1, (seconds - t) * 50))
    write_sound(path, samples)


def write_sound(path, samples):
    """Writes a WAV file of one channel, whose loudest sample is at nearly full level."""
    top = max(abs(sample) for sample in samples)
    data = struct.pack(f"<{len(samples)}h", *(round(s / top * 30000) for s in samples))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(data)
    print(f"{os.path.getsize(path):8,} {os.path.relpath(path)}")


def partials(base, ratios, tail):
    return [(base * ratio, 1 / (i + 1.5), tail / (1 + 0.35 * i)) for i, ratio in enumerate(ratios)]
