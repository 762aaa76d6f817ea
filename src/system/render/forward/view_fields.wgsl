    to_clip: mat4x4f,
    from_clip: mat4x4f,
    // w is 0 for an orthographic camera.
    eye: vec4f,
    // w is the time in seconds.
    ahead: vec4f,
    // w is the size of the sun with shadows, at a distance of one metre; 0: they are not soft.
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
    // The layer of the sky's maps, or below 0 if the sky has three colors; side length of the maps;
    // number of levels for roughness; factor for all light of the sky.
    sky_light: vec4f,
    // Extinction of the air per metre; w is 1 if the air is visible.
    air: vec4f,
    // Height, falloff and start of the fog; w is 1 if it has any of them, or a glow.
    fog_shape: vec4f,
    // Light of the fog towards the sun, and its exponent.
    fog_glow: vec4f,
    // Direction towards the first sun; w is the number of reflection probes.
    fog_towards: vec4f,
    // The grid of froxel fog: columns, rows, slices, slices in a row of its texture.
    fog_grid: vec4f,
    // Its depth in metres, where it begins ahead of the camera, the exponent of its slices; w is 1
    // if the view has froxel fog.
    fog_reach: vec4f,
