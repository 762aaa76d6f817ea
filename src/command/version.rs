//! `engine --version`: the version of this executable, and with `--verbose` how it was built.

use engine_foundation::DEVELOPMENT;
use engine_platform as platform;

/// How an executable was built.
pub struct BuildFacts {
    /// Target of rustc.
    pub target: &'static str,
    /// Profile of cargo.
    pub profile: &'static str,
    /// The commit, with a note about changes; empty if it is unknown.
    pub commit: &'static str,
}

/// Parts of the engine that differ between platforms, by the platform's name.
const FEATURES: &[(&str, &str)] = &[
    (
        "linux",
        "windows by X11 and Wayland, drawing by Vulkan and OpenGL ES, sound by ALSA, confined",
    ),
    ("windows", "windows, drawing by Direct3D 12, Vulkan and OpenGL, sound by WASAPI"),
    ("macos", "windows, drawing by Metal, sound by Core Audio"),
];

/// The text of executables for servers in place of them.
const SERVER_FEATURES: &str = "for servers: no windows, no drawing, no sound devices";

/// The addition to the text of executables without the parts for development.
const BUNDLES_ONLY: &str = "; plays bundles, without other commands";

/// Returns the line with the version, and with `verbose` a line for each fact.
pub fn text(facts: &BuildFacts, verbose: bool) -> String {
    let version = format!("engine {}\n", env!("CARGO_PKG_VERSION"));
    if !verbose {
        return version;
    }
    let features = features(cfg!(feature = "desktop"), DEVELOPMENT);
    let commit = if facts.commit.is_empty() { "unknown" } else { facts.commit };
    format!(
        "{version}target: {}\nprofile: {}\nfeatures: {features}\ncommit: {commit}\n",
        facts.target, facts.profile,
    )
}

/// Returns the parts of an executable, with or without windows and the parts for development.
fn features(has_desktop: bool, has_development: bool) -> String {
    let desktop = FEATURES.iter().find(|(name, _)| *name == platform::NAME);
    let parts = match has_desktop {
        true => desktop.map_or("unknown", |(_, text)| text),
        false => SERVER_FEATURES,
    };
    let bundles = if has_development { "" } else { BUNDLES_ONLY };
    format!("{parts}{bundles}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verbose_version_has_a_line_for_each_fact() {
        let facts = BuildFacts { target: "x86_64-unknown-linux-gnu", profile: "dist", commit: "" };
        let short = text(&facts, false);
        assert_eq!(short, concat!("engine ", env!("CARGO_PKG_VERSION"), "\n"));
        let verbose = text(&facts, true);
        let lines: Vec<&str> = verbose.lines().collect();
        assert_eq!((lines[0], lines.len()), (short.trim_end(), 5), "{verbose}");
        assert_eq!(lines[1], "target: x86_64-unknown-linux-gnu");
        assert_eq!((lines[2], lines[4]), ("profile: dist", "commit: unknown"));
        assert!(lines[3].starts_with("features: ") && lines[3] != "features: unknown");
        assert_eq!(lines[3], format!("features: {}", features(true, true)));
    }

    #[test]
    fn features_of_servers_name_missing_parts() {
        let all_commands = "for servers: no windows, no drawing, no sound devices";
        assert_eq!(features(false, true), all_commands);
        let bundles = format!("{all_commands}; plays bundles, without other commands");
        assert_eq!(features(false, false), bundles);
    }
}
