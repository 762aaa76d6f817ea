//! Packages for macOS: an application, `Yard.app`, in a zip archive. The bundle of the game is
//! another file in it, because signatures of macOS do not allow data behind an executable.
//!
//! Source: Apple's "Bundle Programming Guide" and "Information Property List".

use super::archive::{Archive, Content};
use super::file_names;
use super::game_files::GameFiles;
use super::mach_o::MachProgram;
use super::settings::PackageSettings;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::xml;

/// The oldest macOS that the engine's libraries support: major, minor and patch version.
const MINIMUM_SYSTEM: (u16, u8, u8) = (11, 0, 0);

/// Returns the files of the application, with its folder. `programs` are those of the engine.
pub fn application(
    game: &GameFiles,
    engine: Content,
    programs: &[MachProgram],
    bundle: Content,
    icns: &[u8],
) -> Archive {
    let settings = &game.settings;
    let contents = format!("{}Contents/", application_folder(settings));
    let mut archive = Archive::default();
    archive.add_program(format!("{contents}MacOS/{}", settings.file_name), engine);
    archive.add(format!("{contents}Resources/game.bundle"), bundle);
    archive.add(format!("{contents}PkgInfo"), Content::bytes(*b"APPL????"));
    let has_icon = !icns.is_empty();
    archive.add(
        format!("{contents}Info.plist"),
        Content::bytes(info(settings, has_icon, minimum_system(programs))),
    );
    if has_icon {
        archive.add(format!("{contents}Resources/icon.icns"), Content::bytes(icns));
    }
    game.licenses.add_to(&mut archive, &format!("{contents}Resources/licenses/"));
    archive
}

/// Returns the folder of the application, with a `/` at its end.
pub fn application_folder(settings: &PackageSettings) -> String {
    format!("{}.app/", file_names::application_name(&settings.title, &settings.file_name))
}

/// Returns the oldest system on which all programs start.
fn minimum_system(programs: &[MachProgram]) -> (u16, u8, u8) {
    let newest = programs.iter().filter_map(|program| program.minimum_system).max();
    newest.unwrap_or(MINIMUM_SYSTEM).max(MINIMUM_SYSTEM)
}

fn info(
    settings: &PackageSettings,
    has_icon: bool,
    (major, minor, patch): (u16, u8, u8),
) -> String {
    let minimum_system = match patch {
        0 => format!("{major}.{minor}"),
        patch => format!("{major}.{minor}.{patch}"),
    };
    let text = |text: &str| format!("<string>{}</string>", xml::escape_for_display(text));
    let languages: String =
        settings.languages.iter().map(|tag| format!("\n    {}", text(tag))).collect();
    let mut rows = vec![
        ("CFBundleDevelopmentRegion", text(&settings.languages[0])),
        ("CFBundleDisplayName", text(&settings.title)),
        ("CFBundleExecutable", text(&settings.file_name)),
        ("CFBundleIdentifier", text(&settings.app_id)),
        ("CFBundleInfoDictionaryVersion", text("6.0")),
        ("CFBundleLocalizations", format!("<array>{languages}\n  </array>")),
        ("CFBundleName", text(&settings.title)),
        ("CFBundlePackageType", text("APPL")),
        ("CFBundleShortVersionString", text(&settings.version_text())),
        ("CFBundleVersion", text(&settings.version_text())),
        ("LSMinimumSystemVersion", text(&minimum_system)),
        ("NSHighResolutionCapable", "<true/>".to_string()),
    ];
    if has_icon {
        rows.push(("CFBundleIconFile", text("icon")));
    }
    let category = settings.categories.first().map_or("games", |category| category.apple);
    let category = format!("public.app-category.{category}");
    rows.push(("LSApplicationCategoryType", text(&category)));
    if !settings.author.is_empty() {
        rows.push(("NSHumanReadableCopyright", text(&settings.author)));
    }
    rows.sort_compact();
    let rows: String =
        rows.iter().map(|(key, value)| format!("  <key>{key}</key>\n  {value}\n")).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST \
         1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n\
         <dict>\n{rows}</dict>\n</plist>\n"
    )
}

#[cfg(test)]
#[path = "macos_tests.rs"]
mod tests;
