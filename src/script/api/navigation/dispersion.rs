//! Functions of `NavigationMesh` about the dispersion of crowds.

use super::mesh::MESH_ARG;
use crate::api_row::{ModuleRows, func, more};
use engine_foundation::{Error, error};
use engine_navigation::NavigationMeshId;
use engine_navigation::dispersion::DISPERSION_MAX;
use engine_runtime::Engine;

pub static NAVIGATION_MESH: ModuleRows = more(
    "NavigationMesh",
    &[
        func(
            "set_dispersion",
            set_dispersion,
            &[
                MESH_ARG,
                (
                    "metres",
                    "0 to 1000: by how much each agent that waits makes a way longer; 0, the \
                     default, for no dispersion",
                ),
            ],
            "Has agents search for ways on which fewer others wait, so that a crowd spreads over \
             doors that are about as near. At a door for one, 2 metres are about the way that an \
             agent walks in the time in which another one gets through. Paths of \
             `NavigationMesh.find_path` do not depend on it.",
        ),
        func(
            "dispersion",
            dispersion,
            &[MESH_ARG],
            "Returns by how many metres each agent that waits makes a way longer for the searches \
             of agents; 0 for no dispersion.",
        )
        .pure(),
    ],
);

fn set_dispersion(engine: &mut Engine, mesh: NavigationMeshId, metres: f64) -> Result<(), Error> {
    if !(0.0..=f64::from(DISPERSION_MAX)).contains(&metres) {
        return Err(error!("argument #2 'metres' must be 0 to {DISPERSION_MAX}, got {metres}"));
    }
    engine.worlds.navigation.agents.set_dispersion(mesh.0, metres as f32);
    Ok(())
}

fn dispersion(engine: &mut Engine, mesh: NavigationMeshId) -> f64 {
    engine.worlds.navigation.agents.dispersion(mesh.0).into()
}
