//! The platforms of a check: the one that it runs on, and all that files of the game name as their
//! variants. Each is compiled with the variants that it uses.

use super::finding::{CheckFinding, CheckRule, unique};
use crate::progress::ProgressLine;
use crate::resource_kinds::KINDS;
use crate::resource_reload::data_of;
use engine_foundation::Error;
use engine_foundation::error::messages;
use engine_platform as platform;
use engine_resource::compile::{self, CompileTarget};
use engine_resource::folder_scan;
use engine_resource::resource_name::SourceName;
use engine_resource::settings::Settings;
use engine_resource::store::{DataSource, ResourceStore};
use engine_resource::variant::{PLATFORMS, VariantProperties};
use std::collections::HashSet;
use std::path::Path;

/// A platform with the game's resources as they are compiled for it.
pub struct CheckedPlatform {
    pub name: &'static str,
    pub store: ResourceStore,
}

impl CheckedPlatform {
    /// Returns true for the platform that the check runs on.
    pub fn is_native(&self) -> bool {
        self.name == platform::NAME
    }

    /// Notes the platform in a finding.
    pub fn locate(&self, finding: CheckFinding) -> CheckFinding {
        let platform = (!self.is_native()).then_some(self.name);
        CheckFinding { platform, ..finding }
    }
}

/// Returns the platforms to check, the one that the check runs on first.
pub fn names(root: &Path) -> Vec<&'static str> {
    // A folder that cannot be read is reported when it is compiled.
    let files = folder_scan::files(root).unwrap_or_default().files;
    let sources = files.iter().filter_map(|file| SourceName::of(&file.path, &KINDS)?.ok());
    let known = Settings::platforms_of(root);
    let platforms_of = |properties: VariantProperties| {
        properties.platforms(&known).map(str::to_string).collect::<Vec<_>>()
    };
    let named: HashSet<String> = sources.flat_map(|it| platforms_of(it.properties)).collect();
    let others = known.names().filter(|name| *name != platform::NAME && named.contains(*name));
    [platform::NAME].into_iter().chain(others.map(static_name)).collect()
}

/// Returns the name of a platform for the life of the process. A game has few of its own
/// (OWN_PLATFORMS_MAX), and a process checks one game.
pub fn static_name(name: &str) -> &'static str {
    let known = PLATFORMS.iter().find(|known| **known == name);
    known.copied().unwrap_or_else(|| Box::leak(name.to_string().into_boxed_str()))
}

/// Compiles a game for each platform. Returns the compiled resources, and all compile errors.
pub fn compile_all(
    root: &Path,
    platforms: &[&'static str],
) -> (Vec<CheckedPlatform>, Vec<CheckFinding>) {
    let mut checked = Vec::new();
    let mut findings = Vec::new();
    for name in platforms {
        let store = match compile_for(root, name) {
            Ok((store, problems)) => {
                let finding = |text| CheckFinding::error(CheckRule::Compile, text);
                let platform = CheckedPlatform { name, store: ResourceStore::default() };
                // A file can have several errors.
                let texts = problems.iter().flat_map(|problem| messages(problem));
                let located = texts.map(|text| platform.locate(finding(text.to_string())));
                findings.extend(located);
                store
            }
            Err(error) => {
                let text = format!("resources could not be compiled: {}", error.message);
                findings.push(CheckFinding::error(CheckRule::Compile, text));
                ResourceStore::without(error.message)
            }
        };
        checked.push(CheckedPlatform { name, store });
    }
    (checked, unique(findings))
}

/// Compiles a game for a platform. Returns its resources and the compile errors.
fn compile_for(root: &Path, platform: &str) -> Result<(ResourceStore, Vec<String>), Error> {
    let data = data_of(root, platform)?;
    let target = CompileTarget {
        root,
        data: data.clone(),
        kinds: KINDS,
        source_platform: platform,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let progress = ProgressLine::new("compiling");
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    let mut compiled = compiled?;
    // The next errors would be those of versions that nobody has any more.
    compiled.index.remove_old_data();
    let store = ResourceStore::new(compiled.index, DataSource::Folder(data, KINDS));
    Ok((store, compiled.problems))
}
