//! The text of `engine explain` about the navigation of a level: the meshes that are baked when it
//! is spawned, and what the changes by hand did.

use crate::frame_input::FrameInput;
use crate::{App, Game, GameLaunch, VariantChoice};
use engine_foundation::{Error, error, log};
use engine_navigation::bake::AREAS_MAX;
use engine_navigation::jump_links::JumpRules;
use engine_navigation::mesh::NavigationMesh;
use engine_runtime::Engine;
use engine_runtime::level_navigation::{ClassMesh, LevelMeshes};
use engine_world::navigation_file::{EditShape, JumpEdit, LinkEnds, NavigationFile, PlatformEdit};
use std::fmt::Write;
use std::path::Path;

/// The script that is played in place of the game's own.
const SCRIPT: &str = "tools.navigation";
/// Maximum number of islands that are listed.
const ISLANDS_LISTED_MAX: usize = 16;

/// Returns the description of the navigation of a level, which is spawned in a run without a
/// window.
///
/// # Errors
/// Returns an error if the level cannot be spawned, or has no navigation.
pub fn explain_level(root: &Path, level: &str, variants: VariantChoice) -> Result<String, Error> {
    let launch = GameLaunch {
        arguments: vec![level.to_string()],
        boot: Some(SCRIPT.to_string()),
        variants,
        ..GameLaunch::headless(Game::Folder(root.to_path_buf()))
    };
    // What the warnings say is part of the text.
    log::capture_errors();
    log::capture_data_warnings();
    let explained = play(launch, level);
    let errors = log::release_errors();
    log::release_data_warnings();
    match (explained, errors.is_empty()) {
        (Ok(text), true) => Ok(text),
        (Ok(_), false) => Err(Error::new(errors.join("\n"))),
        (Err(error), _) => Err(error),
    }
}

fn play(launch: GameLaunch, level: &str) -> Result<String, Error> {
    let mut app = App::open(launch)?;
    app.begin(FrameInput::default());
    app.start().map_err(|report| Error::new(report.message.clone()))?;
    let engine = app.vm().engine();
    let mut text = String::new();
    for meshes in &engine.worlds.navigation.levels {
        describe_level(engine, meshes, &mut text);
    }
    match text.is_empty() {
        true => Err(error!("the file of the level \"{level}\" has no block 'navigation'")),
        false => Ok(text),
    }
}

fn describe_level(engine: &Engine, of: &LevelMeshes, text: &mut String) {
    let levels = &engine.worlds.levels;
    let name = levels.slots.get(of.level.0).map_or("", |level| &level.resource.name);
    let _ = writeln!(text, "navigation of level \"{name}\"");
    for class in &of.meshes {
        if let Some(mesh) = engine.worlds.navigation.meshes.get(class.mesh.0) {
            describe_mesh(class, mesh, &of.areas, text);
        }
    }
}

fn describe_mesh(class: &ClassMesh, mesh: &NavigationMesh, areas: &[String], text: &mut String) {
    let settings = mesh.settings();
    let _ = writeln!(
        text,
        "  agents '{}': radius {}, height {}, step {}, slope {}",
        class.class, settings.radius, settings.height, settings.step, settings.slope
    );
    let _ = writeln!(
        text,
        "    cells of {} x {} m: the radius counts as {} m, and openings of {} m are wide enough",
        settings.cell_size,
        settings.cell_height,
        settings.counted_radius(),
        settings.passable_width()
    );
    let islands = mesh.islands();
    let left_out = (0..mesh.num_polygons() as u32).filter(|polygon| mesh.is_left_out(*polygon));
    let _ = writeln!(
        text,
        "    {} polygons in {} tiles, from {} triangles; {} bytes; {} left out by seeds",
        mesh.num_polygons(),
        mesh.num_tiles(),
        mesh.num_source_triangles(),
        mesh.bytes(),
        left_out.count(),
    );
    text.push_str(match class.is_compiled {
        true => "    compiled with the level\n",
        false => "    baked when the level was spawned: nothing was compiled for its actors\n",
    });
    describe_areas(mesh, areas, text);
    let plural = if islands.len() == 1 { "" } else { "s" };
    let _ = writeln!(text, "    {} island{plural}", islands.len());
    for island in islands.iter().take(ISLANDS_LISTED_MAX) {
        let at = mesh.corners(island.first)[0];
        let _ = writeln!(
            text,
            "      {:.1} m², {} polygons, at ({:.1}, {:.1}, {:.1})",
            island.area, island.polygons, at.x, at.y, at.z
        );
    }
    if let more @ 1.. = islands.len().saturating_sub(ISLANDS_LISTED_MAX) {
        let _ = writeln!(text, "      and {more} smaller ones");
    }
    for edit in &class.edits {
        let _ = writeln!(text, "    {edit}");
    }
}

fn describe_areas(mesh: &NavigationMesh, names: &[String], text: &mut String) {
    let mut sizes = [0.0; AREAS_MAX];
    for polygon in 0..mesh.num_polygons() as u32 {
        if !mesh.is_left_out(polygon) {
            sizes[usize::from(mesh.area(polygon))] += mesh.ground_area(polygon);
        }
    }
    for (number, size) in sizes.iter().enumerate().skip(1) {
        let name = number.checked_sub(2).and_then(|at| names.get(at));
        let cost = mesh.area_cost(number as u8);
        let _ = match name {
            Some(name) => {
                writeln!(text, "    area '{name}' (number {number}, cost {cost}): {size:.1} m²")
            }
            None if *size > 0.0 => {
                writeln!(text, "    area {number} (cost {cost}): {size:.1} m²")
            }
            None => Ok(()),
        };
    }
}

fn write_jump(text: &mut String, jump: &JumpEdit) {
    let JumpRules { name, distance, up, down, spacing, cost, is_manual } = &jump.rules;
    let _ = write!(
        text,
        "  jumps '{}': links over at most {distance} m, up {up} m, down {down} m, \
         {spacing} m apart",
        jump.name
    );
    let _ = match cost {
        Some(cost) => write!(text, ", cost {cost}"),
        None => write!(text, ", cost of their length"),
    };
    if *name != jump.name {
        let _ = write!(text, ", named '{name}'");
    }
    if *is_manual {
        text.push_str(", manual");
    }
    if !jump.classes.is_empty() {
        let _ = write!(text, ", for the agents '{}'", jump.classes.join("', '"));
    }
    text.push('\n');
}

/// Returns the description of a navigation file, from its compiled data.
///
/// # Errors
/// Returns an error if the data is broken.
pub fn explain_file(name: &str, bytes: &[u8]) -> Result<String, Error> {
    let file = NavigationFile::read_data(bytes)?;
    let mut text = format!("navigation {name}\n");
    for class in &file.classes {
        let settings = &class.settings;
        let _ = writeln!(
            text,
            "  agents '{}': radius {}, height {}, step {}, slope {}, cells {} x {}",
            class.name,
            settings.radius,
            settings.height,
            settings.step,
            settings.slope,
            settings.cell_size,
            settings.cell_height
        );
    }
    for (name, cost) in &file.areas {
        let _ = writeln!(text, "  area '{name}', cost {cost}");
    }
    for volume in &file.volumes {
        let shape = match &volume.shape {
            EditShape::OfLevel(name) => format!("the volume '{name}' of the level"),
            EditShape::Own(_) => "a shape of its own".to_string(),
        };
        let _ = match &volume.area {
            Some(area) => {
                writeln!(text, "  volume '{}' gives the area '{area}' in {shape}", volume.name)
            }
            None => writeln!(text, "  blocker '{}' blocks {shape}", volume.name),
        };
    }
    for link in &file.links {
        let ends = match &link.ends {
            LinkEnds::Own(from, to) => format!("{from} and {to}"),
            LinkEnds::OfSpline(name) => format!("the ends of the spline '{name}' of the level"),
        };
        let _ = writeln!(text, "  link '{}' joins {ends}", link.name);
    }
    for PlatformEdit { name, unit, capacity, stops, .. } in &file.platforms {
        let names: Vec<&str> = stops.iter().map(|stop| stop.name.as_str()).collect();
        let room = match capacity {
            Some(capacity) => format!("{capacity} characters"),
            None => "as many characters as there is room for".to_string(),
        };
        let _ = writeln!(
            text,
            "  platform '{name}' is the unit '{unit}', for {room}, with the stops '{}'",
            names.join("', '")
        );
    }
    for jump in &file.jumps {
        write_jump(&mut text, jump);
    }
    let _ = match file.seeds.len() {
        0 => Ok(()),
        count => writeln!(text, "  {count} seeds"),
    };
    text += "What came of it in a level: engine explain FOLDER LEVEL --navigation\n";
    Ok(text)
}
