// The radius of the blur out of focus. Draws nothing itself.

// Returns the radius of the blur of a depth, in pixels; it is negative in front of the focus.
fn blur_radius(depth: f32) -> f32 {
    var metres = 1e9;
    if depth < 1.0 {
        metres = -view_z(depth);
    }
    let largest = screen.focus.y;
    let range = screen.focus_range;
    var radius = 0.0;
    if screen.focus.x < 1.5 {
        radius = range.y * (metres - range.x) / max(metres, 1e-3);
    } else {
        let near = clamp((range.y - metres) / max(range.y - range.x, 1e-3), 0.0, 1.0);
        let far = clamp((metres - range.z) / max(range.w - range.z, 1e-3), 0.0, 1.0);
        radius = (far - near) * largest;
    }
    // A radius that is not a number is none.
    var kept = 0.0;
    if radius > 0.0 {
        kept = min(radius, largest);
    }
    if radius < 0.0 {
        kept = max(radius, -largest);
    }
    return kept;
}
