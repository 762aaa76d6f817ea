//! Navigation: meshes baked from triangles, grids, searches for paths, and agents that follow them.
//! Knows no worlds, units or scripts; those give it triangles and positions.

pub mod agents;
pub mod bake;
pub mod grid;
pub mod mesh;
pub mod search;
mod steering;
mod velocity;

#[cfg(test)]
mod tests;
