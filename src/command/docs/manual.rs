//! Documents and images of the manual that are embedded in the binary, by their paths in the
//! project. The reference and the settings page are not included: they are generated from the rows
//! (src/script/docgen/markdown.rs).

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../", $path)) as &[u8])),*]
    };
}

/// Paths and contents of the documents, sorted by path.
pub static DOCUMENTS: &[(&str, &[u8])] = files![
    "CHANGELOG.md",
    "README.md",
    "docs/README.md",
    "docs/checking.md",
    "docs/colors.md",
    "docs/coming_from_love.md",
    "docs/coming_from_stingray.md",
    "docs/compatibility.md",
    "docs/content_tools.md",
    "docs/debug_ui.md",
    "docs/debugging.md",
    "docs/errors.md",
    "docs/faq.md",
    "docs/first_game.md",
    "docs/gui.md",
    "docs/hot_reload.md",
    "docs/images.md",
    "docs/input.md",
    "docs/languages.md",
    "docs/levels.md",
    "docs/flow.md",
    "docs/lights.md",
    "docs/lights_2d.md",
    "docs/shading_environments.md",
    "docs/screen_space.md",
    "docs/post_effects.md",
    "docs/volumetric_fog.md",
    "docs/lua.md",
    "docs/materials.md",
    "docs/render_config.md",
    "docs/menus.md",
    "docs/models.md",
    "docs/animation.md",
    "docs/skeletons.md",
    "docs/sky.md",
    "docs/navigation.md",
    "docs/packages.md",
    "docs/particles.md",
    "docs/performance.md",
    "docs/physics.md",
    "docs/physics_2d.md",
    "docs/profiling.md",
    "docs/renderer.md",
    "docs/resolution.md",
    "docs/resources.md",
    "docs/save.md",
    "docs/security.md",
    "docs/sound.md",
    "docs/sprites.md",
    "docs/statistics.md",
    "docs/tasks.md",
    "docs/testing.md",
    "docs/text.md",
    "docs/textures.md",
    "docs/tilemaps.md",
    "docs/tools.md",
    "docs/units.md",
    "docs/window.md",
    "examples/arcade/README.md",
    "examples/crowd/README.md",
    "examples/museum/README.md",
    "examples/night_town/README.md",
    "examples/playground/README.md",
    "examples/plaza/README.md",
    "examples/puppet/README.md",
    "game_template/README.md",
];

/// Images that the documents show.
static PICTURES: &[(&str, &[u8])] = files![
    "docs/pictures/impact.svg",
    "docs/pictures/flow.png",
    "docs/pictures/flow_difference.svg",
    "docs/pictures/flow_stop.png",
    "docs/pictures/flow_wire.png",
    "docs/pictures/navigation.png",
    "docs/pictures/navigation_doors.png",
    "docs/pictures/night_town.png",
    "docs/pictures/particles.png",
    "docs/pictures/platformer.png",
    "docs/pictures/debug_views.png",
    "docs/pictures/decals.png",
    "docs/pictures/outlines.png",
    "docs/pictures/post_effects.png",
    "docs/pictures/ragdoll.png",
    "docs/pictures/reference_poses.png",
    "docs/pictures/screen_space.png",
    "docs/pictures/skeletons.png",
    "docs/pictures/shading_environments.png",
    "docs/pictures/sky_fog.png",
    "docs/pictures/sky_night.png",
    "docs/pictures/sky_noon.png",
    "docs/pictures/sky_sunset.png",
    "docs/pictures/template.png",
    "docs/pictures/tools.png",
    "docs/pictures/tower.png",
    "examples/arcade/picture.png",
    "examples/crowd/picture.png",
    "examples/museum/picture.png",
    "examples/night_town/picture.png",
    "examples/playground/film.png",
    "examples/playground/picture.png",
    "examples/plaza/films/aim.png",
    "examples/plaza/films/fall.png",
    "examples/plaza/films/jump.png",
    "examples/plaza/films/run.png",
    "examples/plaza/picture.png",
    "examples/puppet/picture.png",
    "tests/golden/gui_images.png",
    "tests/golden/gui_lines.png",
    "tests/golden/gui_masks.png",
    "tests/golden/gui_modes.png",
    "tests/golden/text_scripts.png",
    "tests/golden/area_lights.png",
    "tests/golden/flat_lights.png",
    "tests/golden/fog_lamps.png",
];

/// Returns the images. Those of an engine in a package for servers were overwritten by zeros.
pub fn pictures() -> impl Iterator<Item = &'static (&'static str, &'static [u8])> {
    // The compiler knows the bytes of this file, and not those of the executable.
    let pictures = std::hint::black_box(PICTURES);
    pictures.iter().filter(|(_, bytes)| bytes.first().is_some_and(|byte| *byte != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_page_of_the_manual_is_in_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for entry in std::fs::read_dir(folder).expect("the manual is there") {
            let name = entry.expect("it can be read").file_name().to_string_lossy().into_owned();
            let path = format!("docs/{name}");
            let known = DOCUMENTS.iter().any(|(known, _)| *known == path);
            // The page of settings is generated.
            let wanted = name.ends_with(".md") && name != "settings.md";
            assert_eq!(known, wanted, "{path}: add it to DOCUMENTS in src/command/docs/manual.rs");
        }
    }
}
