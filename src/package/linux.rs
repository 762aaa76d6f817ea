//! Packages for Linux: a `.tar.gz` that runs from any folder, and a `.deb`. Both have an entry for
//! menus (Desktop Entry Specification), metadata for software centres (AppStream 1.0) and icons in
//! the folders of the Icon Theme Specification.

use super::archive::{Archive, Content};
use super::game_files::GameFiles;
use super::settings::PackageSettings;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::xml;

/// Packages that the engine needs, by their names in Debian. Libraries of graphics, sound and
/// windows are opened at run time.
const DEBIAN_RECOMMENDS: &str = "libasound2t64 | libasound2, libvulkan1, mesa-vulkan-drivers, \
                                 libgl1, libxkbcommon0, libxkbcommon-x11-0, libwayland-client0, \
                                 libx11-xcb1, libxcursor1, libxi6";

/// The licence of the engine, with its notice of copyright.
const ENGINE_LICENSE: &str = include_str!("../../LICENSE-MIT");
/// Width and height of the screen of the Steam Deck in pixels.
const STEAM_DECK: (u32, u32) = (1280, 800);

/// Note about the runtime of the Linux depot on Steam.
pub const STEAM_NOTE: &str = "\nLinux: choose Steam Linux Runtime 4.0 as the runtime of the app: \
                              older ones can lack the glibc\nthat the engine needs (`engine \
                              package` prints its version). The Steam Deck shows 1280 x 800\n\
                              pixels: test the game with `engine run GAME` in a window of that \
                              size.\n";

/// Returns a note if the first window of the game is larger than the screen of the Steam Deck.
pub fn steam_deck_note(settings: &PackageSettings) -> Option<String> {
    let ((width, height), (deck_width, deck_height)) = (settings.window_size?, STEAM_DECK);
    (width > deck_width || height > deck_height).then(|| {
        format!(
            "the window has {width} x {height} pixels at the first start, and the screen of the \
             Steam Deck {deck_width} x {deck_height}: make window.width and window.height smaller, \
             or set window.fullscreen"
        )
    })
}

/// Returns the files of the `.tar.gz`, below its one folder.
pub fn portable(game: &GameFiles) -> Archive {
    let PackageSettings { file_name, .. } = &game.settings;
    let mut archive = Archive::default();
    archive.add_program(file_name.clone(), game.program.clone());
    add_desktop_files(&mut archive, game, "share/", file_name);
    game.licenses.add_to(&mut archive, "licenses/");
    archive
}

/// Returns the control file and the installed files of the `.deb`. `architecture` is Debian's name
/// of the processor, `glibc` is the version that the executable needs.
pub fn debian(
    game: &GameFiles,
    architecture: &str,
    glibc: Option<(u32, u32)>,
) -> (String, Archive) {
    let name = game.debian_name();
    let mut files = Archive::default();
    let program = format!("usr/games/{name}");
    files.add_program(program.clone(), game.program.clone());
    add_desktop_files(&mut files, game, "usr/share/", &format!("/{program}"));
    let docs = format!("usr/share/doc/{name}/");
    files.add(format!("{docs}copyright"), Content::bytes(copyright(game)));
    game.licenses.add_to(&mut files, &docs);
    files.add(
        format!("usr/share/lintian/overrides/{name}"),
        Content::bytes(format!(
            "# The licences of libraries name one whose name has that of zlib's functions in it.\n\
             {name}: embedded-library zlib [{program}]\n"
        )),
    );
    let bytes: u64 = files.files().map(|(_, entry)| entry.content.len()).sum();
    let PackageSettings { author, email, website, summary, description, .. } = &game.settings;
    let libc = match glibc {
        Some((major, minor)) => format!("libc6 (>= {major}.{minor})"),
        None => "libc6".to_string(),
    };
    let mut control = format!(
        "Package: {name}\nVersion: {}\nSection: games\nPriority: optional\n\
         Architecture: {architecture}\nInstalled-Size: {}\nDepends: {libc}, libgcc-s1\n\
         Recommends: {DEBIAN_RECOMMENDS}\nMaintainer: {author} <{email}>\n",
        game.settings.version_text(),
        bytes.div_ceil(1024)
    );
    if !website.is_empty() {
        control += &format!("Homepage: {website}\n");
    }
    // The text must not repeat the line above it, and is that line with a dot by default.
    let repeated = description.trim_end_matches('.') == summary.trim_end_matches('.');
    let title = if repeated { format!("{}: ", game.settings.title) } else { String::new() };
    control += &format!("Description: {summary}\n {title}{description}\n");
    (control, files)
}

/// Returns Debian's name of a processor.
pub fn debian_architecture(architecture: &str) -> Option<&'static str> {
    match architecture {
        "x86_64" => Some("amd64"),
        "aarch64" => Some("arm64"),
        "riscv64" => Some("riscv64"),
        "x86" => Some("i386"),
        _ => None,
    }
}

fn copyright(game: &GameFiles) -> String {
    let PackageSettings { title, author, license, .. } = &game.settings;
    format!(
        "{title}\nAuthor: {author}\nLicense of the game: {license}\n\nThe game contains an engine \
         and libraries. Their licences are in the other files of this\nfolder: engine-mit.txt, \
         engine-apache.txt, engine-fonts.txt, engine-libraries.txt.\n\n{}\n\nThe \
         engine:\n\n{ENGINE_LICENSE}",
        game.licenses.game_text()
    )
}

/// Adds the entry for menus, the metadata and the icons to the folder `share`, which ends in `/`.
pub fn add_desktop_files(archive: &mut Archive, game: &GameFiles, share: &str, program: &str) {
    let id = &game.settings.app_id;
    archive.add(
        format!("{share}applications/{id}.desktop"),
        Content::bytes(desktop_entry(&game.settings, !game.icon_pictures.is_empty(), program)),
    );
    archive.add(
        format!("{share}metainfo/{id}.metainfo.xml"),
        Content::bytes(metainfo(&game.settings, program)),
    );
    for (side, png) in &game.icon_pictures {
        archive.add(
            format!("{share}icons/hicolor/{side}x{side}/apps/{id}.png"),
            Content::bytes(png.clone()),
        );
    }
}

/// Escapes a value of a desktop entry.
fn entry_value(text: &str) -> String {
    text.replace('\\', "\\\\")
}

fn desktop_entry(settings: &PackageSettings, has_icon: bool, program: &str) -> String {
    let PackageSettings { app_id, title, summary, categories, .. } = settings;
    let mut entry = format!(
        "[Desktop Entry]\nType=Application\nVersion=1.0\nName={}\nComment={}\nExec={program}\n\
         TryExec={program}\nTerminal=false\nStartupNotify=false\n",
        entry_value(title),
        entry_value(summary)
    );
    if has_icon {
        entry += &format!("Icon={app_id}\n");
    }
    entry += "Categories=Game;";
    let mut menus: Vec<&str> = categories.iter().map(|category| category.menu).collect();
    menus.sort_compact();
    menus.dedup();
    for menu in menus.into_iter().filter(|menu| !menu.is_empty()) {
        entry += &format!("{menu};");
    }
    entry + "\n"
}

fn metainfo(settings: &PackageSettings, program: &str) -> String {
    let binary = program.rsplit('/').next().unwrap_or(program);
    let text = |text: &str| xml::escape_for_display(text);
    let PackageSettings { app_id, title, summary, description, license, .. } = settings;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<component type=\"desktop-application\">\n  \
         <id>{app_id}</id>\n  <name>{}</name>\n  <summary>{}</summary>\n  \
         <metadata_license>FSFAP</metadata_license>\n  <project_license>{}</project_license>\n  \
         <description>\n    <p>{}</p>\n  </description>\n  \
         <launchable type=\"desktop-id\">{app_id}.desktop</launchable>\n  <provides>\n    \
         <binary>{binary}</binary>\n  </provides>\n",
        text(title),
        text(summary.trim_end_matches('.')),
        text(license),
        text(description)
    );
    if !settings.author.is_empty() {
        // The developer has the identifier of the application, without its last part.
        let developer = app_id.rsplit_once('.').map_or(app_id.as_str(), |(start, _)| start);
        out += &format!(
            "  <developer id=\"{}\">\n    <name>{}</name>\n  </developer>\n",
            developer.to_ascii_lowercase(),
            text(&settings.author)
        );
    }
    if !settings.website.is_empty() {
        out += &format!("  <url type=\"homepage\">{}</url>\n", text(&settings.website));
    }
    out += "  <categories>\n    <category>Game</category>\n";
    let mut menus: Vec<&str> = settings.categories.iter().map(|category| category.menu).collect();
    menus.sort_compact();
    menus.dedup();
    for menu in menus.into_iter().filter(|menu| !menu.is_empty()) {
        out += &format!("    <category>{menu}</category>\n");
    }
    out += "  </categories>\n  <languages>\n";
    for language in &settings.languages {
        // AppStream has languages as POSIX locales: pt_BR.
        out += &format!("    <lang>{}</lang>\n", language.replace('-', "_"));
    }
    out + "  </languages>\n</component>\n"
}

/// Finds the newest version of glibc that an executable names in its symbols, such as
/// `GLIBC_2.35`.
pub fn needed_glibc(executable: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"\0GLIBC_";
    let mut newest = None;
    let mut at = 0;
    while let Some(found) = executable[at..].iter().position(|byte| *byte == 0) {
        at += found;
        if let Some(rest) = executable[at..].strip_prefix(MARK) {
            let text = rest.iter().take(10).take_while(|byte| **byte != 0).copied().collect();
            let version = String::from_utf8(text).ok().and_then(|text| {
                let (major, minor) = text.split_once('.')?;
                let minor = minor.split('.').next()?;
                Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
            });
            newest = newest.max(version);
        }
        at += 1;
    }
    newest
}
