//! The names of the porting layer, `require "stingray"`: those that it adds to the API, and those
//! that it replaces. The build script derives them from the layer (layer_names.rs).

/// A module that the layer changes or creates, or another global of the layer.
pub struct LayerModule {
    pub name: &'static str,
    /// The module whose functions it has too; empty if there is none. `_G` stands for all globals.
    pub inherits: &'static str,
    /// Functions and constants that the layer adds or replaces, sorted.
    pub names: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/porting_layer.rs"));

/// The global with all modules as its fields.
pub const GLOBALS: &str = "stingray";
/// The names by which scripts require the layer.
pub const MODULES: [&str; 3] = ["stingray", "core.stingray", "core/stingray"];

/// Returns the row of a global.
pub fn module(name: &str) -> Option<&'static LayerModule> {
    LAYER.iter().find(|module| module.name == name)
}

/// Returns true if the layer has a global, or a function of one.
pub fn has(name: &str, function: Option<&str>) -> bool {
    module(name).is_some_and(|module| function.is_none_or(|it| module.names.contains(&it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_names_that_the_layer_writes_and_computes() {
        for (module, function) in [
            ("Unit", "flow_event"),
            ("Unit", "set_vector2_for_materials"),
            ("Window", "set_title"),
            ("Keyboard", "keystrokes"),
            ("Wwise", "wwise_world"),
            ("WwiseWorld", "stop_all"),
            ("ShadingEnvironment", "blend"),
            ("SwipeDirection", "LEFT"),
            ("Imgui", "text_colored"),
            ("Application", "ENABLE_REPLAY"),
        ] {
            assert!(has(module, Some(function)), "{module}.{function}");
        }
        assert!(!has("Unit", Some("world_position")) && !has("Voice", None));
        assert_eq!(module("Imgui").map(|module| module.inherits), Some("DebugUi"));
        assert_eq!(module(GLOBALS).map(|module| module.inherits), Some("_G"));
    }
}
