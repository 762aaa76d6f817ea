// Textures of omni and spot lights: squares of packed colors among the clusters
// (scene/light_textures.rs). local_lights.wgsl includes this.

const LIGHT_TEXTURE_SIDE: i32 = 64;

// Returns a texel of a square. Rows end at the edges; columns repeat if they go around the light.
fn light_texel(begin: u32, column: i32, row: i32, around: bool) -> vec3f {
    let last = LIGHT_TEXTURE_SIDE - 1;
    let wrapped = (column + LIGHT_TEXTURE_SIDE) % LIGHT_TEXTURE_SIDE;
    let x = select(clamp(column, 0, last), wrapped, around);
    let y = clamp(row, 0, last);
    let root = unpack4x8unorm(light_grid[begin + u32(y * LIGHT_TEXTURE_SIDE + x)]).rgb;
    return root * root;
}

fn light_vector(at: u32) -> vec3f {
    return bitcast<vec3f>(vec3u(light_grid[at], light_grid[at + 1u], light_grid[at + 2u]));
}

// Returns the part of a light's color that its texture lets through towards a point. `header`:
// where the light's words begin.
fn light_texture(header: u32, towards: vec3f) -> vec3f {
    let ahead = dot(-towards, light_vector(header));
    let right = dot(-towards, light_vector(header + 3u));
    let up = dot(-towards, light_vector(header + 6u));
    let slope = bitcast<f32>(light_grid[header + 9u]);
    let around = slope == 0.0;
    var at: vec2f;
    if around {
        // Columns go around the axis, and rows from its direction to the opposite one.
        // On the axis, the arctangent is not defined.
        let is_off_axis = abs(right) + abs(up) > 1e-6;
        at.x = atan2(right, select(1.0, up, is_off_axis)) / 6.2831853 + 0.5;
        at.y = acos(clamp(ahead, -1.0, 1.0)) / 3.1415927;
    } else {
        at = vec2f(right, -up) / (max(ahead, 1e-4) * slope) * 0.5 + 0.5;
    }
    let texel = clamp(at, vec2f(-1.0), vec2f(2.0)) * f32(LIGHT_TEXTURE_SIDE) - 0.5;
    let first = vec2i(floor(texel));
    let part = texel - floor(texel);
    let begin = light_grid[header + 10u];
    let above = mix(
        light_texel(begin, first.x, first.y, around),
        light_texel(begin, first.x + 1, first.y, around),
        part.x,
    );
    let below = mix(
        light_texel(begin, first.x, first.y + 1, around),
        light_texel(begin, first.x + 1, first.y + 1, around),
        part.x,
    );
    return mix(above, below, part.y);
}
