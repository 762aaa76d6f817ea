    to_clip: mat4x4f,
    from_clip: mat4x4f,
    // w is 0 for an orthographic camera.
    eye: vec4f,
    // w is the time in seconds.
    ahead: vec4f,
    right: vec4f,
    up: vec4f,
    // w is the exposure.
    top: vec4f,
    // w is 1 if the sky is shown.
    horizon: vec4f,
    // w is 1 if light that is too bright is clipped instead of compressed.
    ground: vec4f,
    // w is the density.
    fog: vec4f,
