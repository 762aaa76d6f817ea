//! Folders for the programs of stores: SteamPipe's depots with their script, the channels of
//! itch.io with a script for butler, and a manifest for flatpak-builder. Uploads nothing and knows
//! no account.
//!
//! Source: Steamworks' "Uploading to Steam", itch.io's "Pushing builds" and "App manifests".

use super::archive::{Archive, Content};
use super::writer::PackageSources;
use super::{flatpak, linux, unpacked};
use engine_foundation::{Error, error, output_file};
use std::path::{Path, PathBuf};

/// Maximum length of a name at itch.io in bytes.
const ITCH_NAME_BYTES_MAX: usize = 60;

/// An app of Steam, with its depots.
#[derive(Clone, Debug, PartialEq)]
pub struct SteamApp {
    app: u32,
    /// Platforms and the numbers of their depots.
    depots: Vec<(&'static str, u32)>,
}

impl SteamApp {
    /// Parses `480:linux=481,windows=482`.
    ///
    /// # Errors
    /// Returns a message that shows the form.
    pub fn parse(text: &str) -> Result<SteamApp, String> {
        let wrong = || {
            format!(
                "'{text}' is no app with depots: write their numbers, such as \
                 480:linux=481,windows=482,macos=483"
            )
        };
        let number =
            |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(wrong);
        let (app, depots) = text.split_once(':').ok_or_else(wrong)?;
        let mut found: Vec<(&'static str, u32)> = Vec::new();
        for depot in depots.split(',') {
            let (name, depot) = depot.split_once('=').ok_or_else(wrong)?;
            let platform = super::PLATFORMS.iter().find(|known| **known == name);
            let (platform, depot) = (*platform.ok_or_else(wrong)?, number(depot)?);
            if found.iter().any(|(known, other)| *known == platform || *other == depot) {
                return Err(format!("'{text}' names a platform or a depot twice"));
            }
            found.push((platform, depot));
        }
        Ok(SteamApp { app: number(app)?, depots: found })
    }

    fn depot(&self, platform: &str) -> Result<u32, Error> {
        let found = self.depots.iter().find(|(known, _)| *known == platform);
        found.map(|(_, depot)| *depot).ok_or_else(|| {
            error!("--steam has no depot for {platform}: add {platform}= and its number")
        })
    }
}

/// A page of a game at itch.io.
#[derive(Clone, Debug, PartialEq)]
pub struct ItchPage(String);

impl ItchPage {
    /// Parses `user/game`.
    ///
    /// # Errors
    /// Returns a message that shows the form.
    pub fn parse(text: &str) -> Result<ItchPage, String> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.len() <= ITCH_NAME_BYTES_MAX
                && name.chars().all(is_letter)
        };
        match text.split_once('/') {
            Some((user, game)) if is_name(user) && is_name(game) => Ok(ItchPage(text.to_string())),
            _ => Err(format!(
                "'{text}' is no page at itch.io: write its user and its game, such as \
                 example/yard"
            )),
        }
    }
}

/// The stores that get folders of their own.
#[derive(Clone, Debug, Default)]
pub struct StoreTargets {
    /// The app of Steam.
    pub steam: Option<SteamApp>,
    /// The page at itch.io.
    pub itch: Option<ItchPage>,
    /// True for a manifest of a Flatpak.
    pub flatpak: bool,
}

/// Name of a platform's channel. itch.io finds the platform in it.
fn channel(platform: &str) -> &str {
    if platform == "macos" { "mac" } else { platform }
}

/// Returns a text without characters that the formats of the scripts interpret.
fn quotable(text: &str) -> String {
    text.chars().map(|c| if "\"'\\`$".contains(c) || c.is_control() { ' ' } else { c }).collect()
}

impl StoreTargets {
    /// Writes the files of a platform into the folders of the stores, instead of those of earlier
    /// runs. `program` is the file or application that players start.
    pub(super) fn write_content(
        &self,
        out: &Path,
        platform: &str,
        files: &Archive,
        program: &str,
    ) -> Result<(), Error> {
        if self.steam.is_some() {
            replace_files(out, &format!("steam/content/{platform}"), files)?;
        }
        if self.itch.is_some() {
            let mut files = files.clone();
            let actions = format!("[[actions]]\nname = \"play\"\npath = \"{program}\"\n");
            files.add(".itch.toml", Content::bytes(actions));
            replace_files(out, &format!("itch/{}", channel(platform)), &files)?;
        }
        if self.flatpak && platform == "linux" {
            replace_files(out, &format!("flatpak/{}", flatpak::FILES), files)?;
        }
        Ok(())
    }

    /// Returns the paths and texts of the scripts for these platforms.
    ///
    /// # Errors
    /// Returns an error if a platform has no depot, or if a Flatpak has no files for Linux.
    pub fn scripts(
        &self,
        platforms: &[(&str, &PackageSources)],
    ) -> Result<Vec<(String, String)>, Error> {
        let mut scripts = Vec::new();
        let Some((_, PackageSources { settings, .. })) = platforms.first() else {
            return Ok(scripts);
        };
        let version = settings.version_text();
        if let Some(app) = &self.steam {
            let mut depots = String::new();
            for (platform, _) in platforms {
                depots += &format!(
                    "    \"{}\"\n    {{\n      \"FileMapping\"\n      {{\n        \"LocalPath\" \
                     \"{platform}/*\"\n        \"DepotPath\" \".\"\n        \"Recursive\" \
                     \"1\"\n      }}\n    }}\n",
                    app.depot(platform)?
                );
            }
            let script = format!(
                "\"AppBuild\"\n{{\n  \"AppID\" \"{}\"\n  \"Desc\" \"{} {version}\"\n  \
                 \"ContentRoot\" \"content\"\n  \"BuildOutput\" \"output\"\n  \"Depots\"\n  \
                 {{\n{depots}  }}\n}}\n",
                app.app,
                quotable(&settings.title)
            );
            scripts.push(("steam/app_build.vdf".to_string(), script));
            scripts.push(("steam/notes.txt".to_string(), steam_notes(platforms)));
        }
        if let Some(ItchPage(page)) = &self.itch {
            let mut script = "#!/bin/sh\n# Uploads the game with itch.io's program butler, after \
                              `butler login`.\nset -e\ncd \"$(dirname \"$0\")\"\n"
                .to_string();
            for (platform, _) in platforms {
                let channel = channel(platform);
                script +=
                    &format!("butler push {channel} {page}:{channel} --userversion {version}\n");
            }
            scripts.push(("itch/push.sh".to_string(), script));
        }
        if self.flatpak {
            let linux = platforms.iter().find(|(platform, _)| *platform == "linux");
            let (_, PackageSources { settings, .. }) = linux.ok_or_else(|| {
                error!("--flatpak needs the files for Linux: give --platform linux or all")
            })?;
            scripts.push((flatpak::path(settings), flatpak::manifest(settings)));
        }
        Ok(scripts)
    }

    /// Returns notes for the game's author about what the stores ask of games.
    pub fn notes(&self, platforms: &[(&str, &PackageSources)]) -> Vec<String> {
        let linux = platforms.iter().filter(|(platform, _)| *platform == "linux");
        let found = linux.filter_map(|(_, sources)| linux::steam_deck_note(&sources.settings));
        if self.steam.is_some() { found.collect() } else { Vec::new() }
    }

    /// Writes the scripts, and returns their paths.
    ///
    /// # Errors
    /// Returns an error that names the file that cannot be written.
    pub fn write_scripts(
        &self,
        out: &Path,
        scripts: &[(String, String)],
    ) -> Result<Vec<PathBuf>, Error> {
        let mut files = Archive::default();
        for (path, text) in scripts {
            match path.ends_with(".sh") {
                true => files.add_program(path.clone(), Content::bytes(text.clone())),
                false => files.add(path.clone(), Content::bytes(text.clone())),
            }
        }
        unpacked::write_files(out, &files)?;
        Ok(scripts.iter().map(|(path, _)| out.join(path)).collect())
    }
}

/// Writes files into a folder below the output folder, instead of everything that is in it. A link
/// on the way could lead out of the output folder, whose content may be that of a game.
fn replace_files(out: &Path, path: &str, files: &Archive) -> Result<(), Error> {
    let folder = &out.join(path);
    output_file::check_no_links(out, Path::new(path))
        .map_err(|reason| error!("{} cannot be replaced: {reason}", folder.display()))?;
    match std::fs::remove_dir_all(folder) {
        Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
            return Err(error!("{} cannot be replaced: {reason}", folder.display()));
        }
        _ => {}
    }
    unpacked::write_files(folder, files)
}

/// Returns the steps that Steam's pages need by hand.
fn steam_notes(platforms: &[(&str, &PackageSources)]) -> String {
    let mut notes = "Upload, with the path of this folder:\n\n  steamcmd +login ACCOUNT \
                     +run_app_build FOLDER/app_build.vdf +quit\n\nLaunch options in Steamworks \
                     (Installation, General):\n\n"
        .to_string();
    for (platform, PackageSources { settings, .. }) in platforms {
        let program = match *platform {
            "windows" => super::windows::program_name(settings),
            "macos" => super::macos::application_folder(settings).trim_end_matches('/').to_string(),
            _ => settings.file_name.clone(),
        };
        notes += &format!("  {platform}: {program}\n");
    }
    if platforms.iter().any(|(platform, _)| *platform == "linux") {
        notes += linux::STEAM_NOTE;
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::read;
    use super::*;

    #[test]
    fn numbers_and_names_of_stores_are_checked() {
        let app = SteamApp::parse("480:linux=481,windows=482").unwrap();
        assert_eq!((app.app, app.depot("windows").unwrap()), (480, 482));
        let message = app.depot("macos").unwrap_err().message;
        assert_eq!(message, "--steam has no depot for macos: add macos= and its number");
        for text in ["", "480", "480:", "x:linux=1", "480:amiga=1", "480:linux=x", "480:linux=0"] {
            assert!(SteamApp::parse(text).unwrap_err().contains("is no app with depots"), "{text}");
        }
        for text in ["480:linux=1,linux=2", "480:linux=1,windows=1"] {
            assert!(SteamApp::parse(text).unwrap_err().ends_with("twice"), "{text}");
        }
        assert!(ItchPage::parse("example/my-yard_2").is_ok());
        for text in ["", "yard", "a/b/c", "../x", "a/", "A/b", "a/b;rm", "a/$(x)", "a/-b"] {
            assert!(ItchPage::parse(text).is_err(), "{text}");
        }
        assert!(ItchPage::parse(&format!("a/{}", "b".repeat(61))).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_replaced_or_written_through_links() {
        use std::fs;
        use std::os::unix::fs::symlink;
        let root = std::env::temp_dir().join(format!("engine-{}-stores", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let (out, home) = (root.join("out"), root.join("home"));
        let kept = home.join("content/linux/letter.txt");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::create_dir_all(&out).unwrap();
        fs::write(&kept, "dear").unwrap();
        let steam = SteamApp::parse("480:linux=481").ok();
        let stores = StoreTargets { steam, ..StoreTargets::default() };
        let mut files = Archive::default();
        files.add_program("yard", Content::bytes("program".to_string()));
        files.add("data/a.txt", Content::bytes("a".to_string()));
        let write = || stores.write_content(&out, "linux", &files, "yard");
        let script = [("steam/app_build.vdf".to_string(), "text".to_string())];
        symlink(&home, out.join("steam")).unwrap();
        for message in
            [write().unwrap_err().message, stores.write_scripts(&out, &script).unwrap_err().message]
        {
            assert!(message.contains("steam' is a link, and nothing is written"), "{message}");
        }
        fs::remove_file(out.join("steam")).unwrap();
        fs::create_dir_all(out.join("steam/content")).unwrap();
        symlink(home.join("content/linux"), out.join("steam/content/linux")).unwrap();
        assert!(write().unwrap_err().message.contains("is a link"));
        assert_eq!(fs::read_to_string(&kept).unwrap(), "dear");
        assert!(!home.join("app_build.vdf").exists());
        // The links of a folder's content are removed with it, and lead nowhere.
        fs::remove_file(out.join("steam/content/linux")).unwrap();
        fs::create_dir_all(out.join("steam/content/linux")).unwrap();
        symlink(&home, out.join("steam/content/linux/data")).unwrap();
        write().unwrap();
        stores.write_scripts(&out, &script).unwrap();
        assert!(out.join("steam/content/linux/data/a.txt").is_file());
        assert!(kept.is_file() && !home.join("a.txt").exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn scripts_of_stores_quote_titles() {
        let settings = read("package = { title = \"A\\\"B $(x) 'c'\", version = \"2\" }", "linux");
        let mut sources = PackageSources::for_tests(settings.unwrap());
        sources.settings.file_name = "yard".to_string();
        let stores = StoreTargets {
            steam: SteamApp::parse("480:linux=481").ok(),
            itch: ItchPage::parse("example/yard").ok(),
            flatpak: false,
        };
        let scripts = stores.scripts(&[("linux", &sources)]).unwrap();
        let [(_, build), (_, notes), (_, push)] = &scripts[..] else { panic!("{scripts:?}") };
        assert!(build.contains("  \"Desc\" \"A B  (x)  c  2\"\n"), "{build}");
        assert!(build.contains("\"481\"") && build.contains("\"linux/*\""), "{build}");
        assert!(notes.contains("  linux: yard\n") && notes.contains("Linux Runtime"), "{notes}");
        assert!(push.ends_with("butler push linux example/yard:linux --userversion 2\n"), "{push}");
        assert!(stores.scripts(&[("windows", &sources)]).is_err(), "there is no depot");
        assert_eq!(stores.notes(&[("linux", &sources)]), [""; 0]);
        sources.settings.window_size = Some((1280, 801));
        let [note] = &stores.notes(&[("linux", &sources)])[..] else { panic!("one note") };
        let wanted = "the window has 1280 x 801 pixels at the first start, and the screen of the \
                      Steam Deck 1280 x 800: ";
        assert!(note.starts_with(wanted), "{note}");
        assert_eq!(stores.notes(&[("windows", &sources)]), [""; 0]);
        assert_eq!(StoreTargets::default().notes(&[("linux", &sources)]), [""; 0]);
        let stores = StoreTargets { flatpak: true, ..StoreTargets::default() };
        let scripts = stores.scripts(&[("linux", &sources)]).unwrap();
        assert!(scripts.len() == 1 && scripts[0].0.starts_with("flatpak/"), "{scripts:?}");
        assert!(stores.scripts(&[("windows", &sources)]).is_err(), "nothing is for Linux");
    }
}
