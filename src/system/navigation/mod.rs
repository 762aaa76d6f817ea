//! Navigation: meshes baked from triangles, grids, searches for paths, and agents that follow them.
//! Knows no worlds, units or scripts; those give it triangles and positions.

mod abandoned_links;
mod agent;
pub mod agents;
pub mod bake;
mod bake_tiles;
pub mod baked_tiles;
mod cluster_table;
mod clusters;
mod cone;
pub mod cover;
mod dead_ends;
mod destinations;
mod detours;
mod dijkstra_map;
pub mod dispersion;
mod far_search;
pub mod fields;
mod following;
pub mod grid;
mod grid_flow;
mod grid_flow_change;
mod grid_jump;
pub mod grid_outline;
pub mod grid_parts;
mod grid_path;
mod grid_queries;
pub mod grid_requests;
mod grid_search;
mod hierarchy;
pub mod islands;
pub mod jump_links;
pub mod jumps;
mod leave_closed;
pub mod mesh;
mod mesh_errors;
mod neighbors;
mod open_list;
pub mod outline;
pub mod own_costs;
mod passages;
mod path;
mod path_cost;
pub mod path_requests;
mod placement;
mod platform_end;
pub mod platforms;
mod portals;
mod progress;
pub mod queries;
pub mod rays;
mod reachable;
pub mod rebake;
mod rebuild;
mod requests;
mod rest;
mod rides;
pub mod routes;
pub mod search;
mod shared_targets;
mod sight;
pub mod snapshot;
mod steering;
pub mod straight_ways;
mod straighten;
mod traversal;
mod velocity;
pub mod volumes;
mod waiting_slots;
mod wall_contacts;
mod waypoints;

#[cfg(test)]
mod agent_tests;
#[cfg(test)]
mod arrival_tests;
#[cfg(test)]
mod baked_tiles_tests;
#[cfg(test)]
mod crowd_scenes;
#[cfg(test)]
mod crowd_tests;
#[cfg(test)]
mod destination_ride_tests;
#[cfg(test)]
mod destination_tests;
#[cfg(test)]
mod detour_tests;
#[cfg(test)]
mod dispersion_tests;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod following_tests;
#[cfg(test)]
mod jump_links_tests;
#[cfg(test)]
mod jump_tests;
#[cfg(test)]
mod jump_way_tests;
#[cfg(test)]
mod museum_tests;
#[cfg(test)]
mod opening_tests;
#[cfg(test)]
mod own_costs_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod platform_tests;
#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod snapshot_tests;
#[cfg(test)]
mod test_worlds;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod volume_tests;
#[cfg(test)]
mod waypoint_tests;

use engine_foundation::Handle;

/// Maximum number of meshes.
pub const MESHES_MAX: usize = 64;
/// Maximum number of grids.
pub const GRIDS_MAX: usize = 256;

/// Handle of a mesh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NavigationMeshId(pub Handle);

/// Handle of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NavigationGridId(pub Handle);

/// Handle of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgentId(pub Handle);
