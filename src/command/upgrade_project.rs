//! `engine upgrade-project`: lists what newer engines have renamed or changed, where a game's
//! scripts and settings use it. It changes nothing.

use super::confinement_flag::ConfinementFlag;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::exit;
use engine_foundation::file_access::{self, readers};
use engine_foundation::{Error, terminal};
use engine_platform as platform;
use engine_resource::folder_scan;
use engine_resource::project::Project;
use engine_resource::settings::Settings;
use std::path::{Path, PathBuf};

/// List what newer engines have renamed or changed, with the lines of a game that use it
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    confine: ConfinementFlag,
}

/// Maximum number of lines that are listed. All are counted.
const LINES_MAX: usize = 1000;

/// A name whose meaning has changed.
struct Change {
    /// The name as games write it: of a function, or of a counter, or the last part of a setting.
    name: &'static str,
    /// True for names of settings, which are searched only in files of settings.
    is_setting: bool,
    /// The remedy.
    note: &'static str,
}

const fn script(name: &'static str, note: &'static str) -> Change {
    Change { name, is_setting: false, note }
}

const fn setting(name: &'static str, note: &'static str) -> Change {
    Change { name, is_setting: true, note }
}

/// All changes that a game has to follow, the newest first. CHANGELOG.md has the reasons.
const CHANGES: &[Change] = &[
    setting("less_on_processor", "replaced: write render.quality = \"high\" instead of false"),
    script("test.mend", "renamed: test.clear_fault"),
    script("tools/told", "renamed: tools/messages_sent"),
    script("tools/told_bytes", "renamed: tools/bytes_sent"),
    script("tools/heard", "renamed: tools/messages_received"),
    script("tools/heard_bytes", "renamed: tools/bytes_received"),
    script("sound/heard", "renamed: sound/audible_voices"),
    script("sound/mixing_ms", "renamed: sound/mixing_milliseconds"),
    script("textures/handed", "renamed: textures/uploaded"),
    script("textures/handed_bytes", "renamed: textures/uploaded_bytes"),
    script("textures/own", "renamed: textures/separate"),
    script("renderer/world_draws_seen", "renamed: renderer/world_draws_visible"),
    script("Gui.texture_size", "changed: it returns width and height, and no Vector2"),
];

pub fn main(args: Args) -> i32 {
    match run(&args) {
        Ok(text) => {
            terminal::print(&text);
            exit::SUCCESS
        }
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

fn run(args: &Args) -> Result<String, Error> {
    check_boot_script(&args.folder)?;
    if args.confine.is_enabled() {
        ConfinementPlan::of_folder(&args.folder).begin();
        confinement::forbid_programs(false);
    }
    let version = env!("CARGO_PKG_VERSION");
    let (mut lines, mut count) = (String::new(), 0usize);
    for line in lines_of_game(&args.folder)? {
        count += 1;
        if count <= LINES_MAX {
            lines.push_str(&line);
        }
    }
    Ok(match count {
        0 => format!("nothing to change for engine {version}\n"),
        count if count <= LINES_MAX => format!("{lines}{count} to look at for engine {version}\n"),
        count => format!(
            "{lines}{count} to look at for engine {version}, of which {LINES_MAX} are listed \
             (LINES_MAX)\n"
        ),
    })
}

/// Returns an error if the folder has no game.
fn check_boot_script(folder: &Path) -> Result<(), Error> {
    // Settings of an older engine can be invalid today.
    let settings = Settings::read(folder, platform::NAME).unwrap_or_else(|_| Settings::defaults());
    let missing = Project::open(folder)?.missing_boot_message(settings.text("boot_script"));
    missing.map_or(Ok(()), |message| Err(Error::new(message)))
}

/// Returns a line for each use of a changed name, and for each file that cannot be read.
fn lines_of_game(root: &Path) -> Result<Vec<String>, Error> {
    let found = folder_scan::files(root)?;
    let mut lines: Vec<String> = found.problems.iter().map(|it| format!("{it}\n")).collect();
    for file in &found.files {
        let is_settings = file.path.ends_with("settings.sjson");
        if !is_settings && !file.path.ends_with(".lua") {
            continue;
        }
        match file_access::read(root, &file.path, &readers::SCRIPT) {
            Ok(bytes) => add_uses(&file.path, &bytes, is_settings, &mut lines),
            Err(reason) => lines.push(format!("{}\n", reason.message(&file.path))),
        }
    }
    Ok(lines)
}

fn add_uses(path: &str, bytes: &[u8], is_settings: bool, lines: &mut Vec<String>) {
    let text = String::from_utf8_lossy(bytes);
    for (number, line) in text.lines().enumerate() {
        for change in CHANGES {
            if (is_settings || !change.is_setting) && has_name(line, change.name) {
                let (number, name, note) = (number + 1, change.name, change.note);
                lines.push(format!("{path}:{number}: '{name}' is {note}\n"));
            }
        }
    }
}

/// Returns true if a line has a name that is no part of a longer one.
fn has_name(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/');
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(path: &str, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        add_uses(path, text.as_bytes(), path.ends_with(".sjson"), &mut lines);
        lines
    }

    #[test]
    fn uses_of_changed_names_are_listed_with_their_lines() {
        let text = "local x = 1\ntest.mend()\nbudget('tools/told_bytes')\n";
        let wanted = [
            "main.lua:2: 'test.mend' is renamed: test.clear_fault\n",
            "main.lua:3: 'tools/told_bytes' is renamed: tools/bytes_sent\n",
        ];
        assert_eq!(uses("main.lua", text), wanted);
        let text = "render = {\n  less_on_processor = false\n}\n";
        let [line] = &uses("settings.sjson", text)[..] else { panic!("one line") };
        assert!(line.starts_with("settings.sjson:2: 'less_on_processor' is replaced: "), "{line}");
    }

    #[test]
    fn a_folder_without_a_game_is_refused() {
        let name = format!("engine-{}-upgrade", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let message = check_boot_script(&folder).unwrap_err().message;
        assert!(message.contains(" has no main.lua"), "{message}");
        std::fs::write(folder.join("main.lua"), "").unwrap();
        assert!(check_boot_script(&folder).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn longer_names_and_settings_in_scripts_are_no_uses() {
        let text =
            "contest.mend() test.mender() my/tools/told less_on_processor()\n\u{e9}test.mend";
        assert_eq!(uses("main.lua", text), [""; 0]);
        assert!(has_name("test.mend", "test.mend") && has_name("(test.mend)", "test.mend"));
    }

    #[test]
    fn changed_settings_are_none_of_today() {
        let known = engine_resource::settings::SETTINGS;
        for change in CHANGES.iter().filter(|change| change.is_setting) {
            let is_known = known.iter().any(|row| row.key.ends_with(change.name));
            assert!(!is_known, "{} is a setting of today", change.name);
        }
    }
}
