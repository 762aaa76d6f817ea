// Windows that light up in the evening, each at its own time. Behind the glass is a room: the ray
// of sight is followed to its walls, so that it moves past the frame as a real room does.

struct Variables {
    // 0 is day. In the evening, windows with a lower number of their own are lit.
    evening: f32,
    // Light of a lit room.
    brightness: f32,
    warm: vec4f,
    cool: vec4f,
}
@group(2) @binding(0) var<uniform> variables: Variables;

const DEPTH: f32 = 1.4; // of a room, where its width is 1
const LAMP = vec3f(0.5, 0.92, 0.75); // below the ceiling

// Returns a number from 0 to 1 that looks random.
fn random(seed: vec2f) -> f32 {
    return fract(sin(dot(seed, vec2f(12.9898, 78.233))) * 43758.547);
}

// Returns the point of a room's inner walls that is seen through a point of its window.
fn room_point(at: vec2f, sight: vec3f) -> vec3f {
    let start = vec3f(at, 0.0);
    let far = select(vec3f(0.0), vec3f(1.0, 1.0, DEPTH), sight > vec3f(0.0));
    let steps = abs((far - start) / max(abs(sight), vec3f(1e-4)));
    return start + sight * min(steps.x, min(steps.y, steps.z));
}

// Returns the colour of a shop's walls: shelves with goods of different heights and colours.
fn shelves(at: vec2f) -> vec3f {
    let scaled = at * vec2f(15.0, 5.0);
    let cell = floor(scaled);
    let inside = fract(scaled);
    let wide = 0.3 + 0.16 * random(cell + 7.0);
    let ware = step(inside.y, 0.3 + 0.55 * random(cell)) * step(abs(inside.x - 0.5), wide);
    let paint = 0.15 + 0.75 * vec3f(random(cell + 1.0), random(cell + 2.0), random(cell + 3.0));
    return mix(vec3f(0.75), paint, ware) * mix(1.0, 0.2, step(inside.y, 0.07));
}

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    let number = floor(in.uv.x);
    let at = vec2f((fract(in.uv.x) - 0.02) / 0.96, (in.uv.y - 0.02) / 0.96);
    // The tint of the mesh differs from house to house.
    let house = dot(round(in.color.rgb * 100.0), vec3f(0.317, 0.173, 0.079));
    // Shops are lit before all others, and have no curtains.
    let shop = number > 99.0;
    let mine = random(vec2f(number, house)) * select(1.0, 0.15, shop);
    let taste = random(vec2f(house, number + 0.5));

    let across = normalize(cross(vec3f(0.0, 0.0, 1.0), in.normal));
    let sight = -vec3f(dot(in.view_direction, across), in.view_direction.z,
        dot(in.view_direction, in.normal));
    let seen = room_point(at, vec3f(sight.x, sight.y, max(sight.z, 0.05)));
    let lamp = LAMP - vec3f(0.3 * (taste - 0.5), 0.0, 0.0);
    let glow = 0.09 / (0.05 + dot(seen - lamp, seen - lamp));
    let wall = mix(0.5, 1.0, smoothstep(0.0, 0.25, seen.y)) * (1.0 - 0.35 * step(seen.y, 0.02));
    let color = mix(variables.warm.rgb, variables.cool.rgb, select(taste, 0.25, shop));
    var light = color * wall * select(0.16 + glow, 0.1 + 0.35 * glow, shop);
    if shop && abs(seen.y - 0.5) < 0.49 {
        light *= shelves(vec2f(seen.x + seen.z, seen.y));
    }

    // Curtains: at both sides, or closed in some rooms.
    let folds = 0.72 + 0.28 * sin(at.x * 55.0 + taste * 9.0);
    let open = select(select(0.13 + 0.14 * taste, 0.52, taste > 0.72), -1.0, shop);
    let curtain = 1.0 - smoothstep(open - 0.02, open, min(at.x, 1.0 - at.x));
    let cloth = variables.warm.rgb * vec3f(1.0, 0.8, 0.62) * folds * mix(0.18, 0.5, at.y);
    light = mix(light, cloth, curtain);

    // Bars of wood in front of the glass.
    let bar = max(1.0 - smoothstep(0.018, 0.026, abs(at.x - 0.5)),
        1.0 - smoothstep(0.014, 0.02, abs(at.y - 0.64)));
    let lit = smoothstep(mine - 0.015, mine + 0.015, variables.evening);
    out.emissive = light * lit * variables.brightness * (1.0 - bar);
    out.base_color = mix(vec3f(0.012, 0.015, 0.02), vec3f(0.5, 0.47, 0.42), bar);
    out.roughness = mix(in.base.roughness, 0.7, bar);
    return out;
}
