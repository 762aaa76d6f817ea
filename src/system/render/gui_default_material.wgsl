// The paint function of the engine's own materials: only the paints of gui.wgsl.

fn paint(in: Paint) -> vec4f {
    return in.base;
}
