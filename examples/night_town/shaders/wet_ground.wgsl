// Stones that become wet: first darker and smoother, then with puddles between and over them. Water
// shows the texture `mirror`, the town as seen from below the ground (mirror.lua).

struct Variables {
    // From 0, dry, to 1.
    wet: f32,
    // How many drops make rings.
    rain: f32,
    // How full the puddles are.
    water: f32,
    // The light of the mirror's white; 0: there is no mirror.
    gain: f32,
    // How much of the mirror wet stones show outside of puddles.
    smooth_film: f32,
}
@group(2) @binding(0) var<uniform> variables: Variables;
@group(2) @binding(1) var puddles: texture_2d<f32>;
@group(2) @binding(2) var puddles_sampler: sampler;
@group(2) @binding(3) var mirror: texture_2d<f32>;
@group(2) @binding(4) var mirror_sampler: sampler;

const PUDDLES: f32 = 15.0; // metres of one copy of the texture
const TAPS: i32 = 5;

// What `surface` found out about the pixel, for `final_color`.
var<private> puddle: f32;
var<private> water_normal: vec3f;

fn random(seed: vec2f) -> f32 {
    return fract(sin(dot(seed, vec2f(12.9898, 78.233))) * 43758.547);
}

// Returns the slope of the rings around drops that have hit the water. Each cell of a grid has one
// ring at a time, which grows, fades and begins elsewhere in the cell.
fn rings(position: vec2f) -> vec2f {
    var slope = vec2f(0.0);
    for (var i = 0; i < 2; i++) {
        let layer = f32(i);
        let at = position * (2.6 + 1.5 * layer) + layer * vec2f(0.37, 0.71);
        let cell = floor(at);
        let beat = frame.seconds * (1.3 + 0.3 * layer) + 7.0 * random(cell + 17.0 * layer);
        let drop = floor(beat);
        let age = fract(beat);
        let middle = 0.3 + 0.4 * vec2f(random(cell + 0.37 * drop), random(cell.yx - 0.61 * drop));
        let way = fract(at) - middle;
        let far = length(way);
        let behind = far - 0.3 * age;
        let falls = step(random(cell.yx + 0.13 * drop), variables.rain);
        let wave = sin(behind * 60.0) * exp(-abs(behind) * 24.0) * (1.0 - age) * (1.0 - age);
        slope += way / max(far, 0.01) * wave * falls;
    }
    return slope;
}

fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    let at = in.world_position.xy;
    // Water gathers where the noise is low, and in the joints of the stones first.
    let height = textureSample(puddles, puddles_sampler, at / PUDDLES).r
        + 0.1 * clamp(in.base.base_color.g * 2.5, 0.0, 1.0);
    let level = variables.water * 0.7;
    puddle = smoothstep(level + 0.03, level - 0.03, height) * step(0.001, variables.water);

    let darker = mix(1.0, 0.42, variables.wet);
    out.base_color *= mix(darker, 0.16, puddle);
    out.roughness = mix(out.roughness, mix(out.roughness, 0.3, variables.wet), 1.0 - puddle);
    out.roughness = mix(out.roughness, 0.05, puddle);
    water_normal = vec3f(0.0, 0.0, 1.0);
    if puddle * variables.rain > 0.0 {
        water_normal = normalize(vec3f(rings(at) * (0.25 * variables.rain), 1.0));
    }
    out.normal = normalize(mix(in.base.normal, water_normal, puddle));
    // Where the mirror shows the surroundings, the light of the sky must not be added to it.
    let mirrored = step(0.0001, variables.gain);
    out.specular *= 1.0 - 0.9 * puddle * mirrored;
    return out;
}

// Returns the mirrored light, blurred upwards and downwards as rough water does.
fn mirrored_light(screen: vec2f, slope: vec2f, blur: f32) -> vec3f {
    // Seen from below, the picture is upside down.
    let at = vec2f(screen.x, 1.0 - screen.y) + slope;
    var sum = vec3f(0.0);
    for (var i = 0; i < TAPS; i++) {
        let step = (f32(i) / f32(TAPS - 1) - 0.5) * blur;
        sum += textureSampleLevel(mirror, mirror_sampler, at + vec2f(0.07 * step, step), 0.0).rgb;
    }
    return sum / f32(TAPS);
}

fn final_color(in: SurfaceIn, color: vec3f) -> vec3f {
    let facing = clamp(in.view_direction.z, 0.0, 1.0);
    let fresnel = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
    let film = variables.wet * variables.smooth_film;
    let share = fresnel * mix(film, 1.0, puddle) * step(0.0001, variables.gain);
    if share < 0.004 { // too little to be seen
        return color;
    }
    let bumps = mix(in.base.normal.xy * 0.035, water_normal.xy * 0.05, puddle);
    let light = mirrored_light(in.screen, bumps, mix(0.16, 0.012, puddle)) * variables.gain;
    return mix(color, light, share);
}
