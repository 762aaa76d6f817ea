//! Navigation: meshes baked from triangles, grids, searches for paths, and agents that follow them.
//! Knows no worlds, units or scripts; those give it triangles and positions.

pub mod bake;
pub mod mesh;
pub mod search;

#[cfg(test)]
mod tests;
