// What the engine's own materials paint: nothing beyond the paints of gui.wgsl.

fn paint(in: Paint) -> vec4f {
    return in.base;
}
