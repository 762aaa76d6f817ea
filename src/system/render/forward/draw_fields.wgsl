    // The rows of its pose.
    x: vec4f,
    y: vec4f,
    z: vec4f,
    // x: its tint; y and z: left and top, width and height of its part of the textures; w: bit 0
    // flipped horizontally, bit 1 flipped vertically, above them the location of its deformation.
    tint: vec4u,
