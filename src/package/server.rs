//! Packages for servers: an engine and the bundle of the game as two files, so that options of
//! `engine run` can be given, and for Linux a container file.

use super::archive::{Archive, Content};
use super::engine_file::EngineFile;
use super::file_names;
use super::game_files::GameFiles;
use super::linux;

/// Name of the bundle in the package.
const BUNDLE: &str = "game.bundle";
/// Options of a server: no window, frames by the clock.
const OPTIONS: &str = "--headless --realtime";

/// Instructions for containers. The first process of a container ignores a signal for which it has
/// no handler, and the engine has none before the game runs.
const CONTAINER_NOTES: &str = "
Containerfile describes a container image; its first lines have the commands.
- Use `docker run --init`: otherwise, SIGTERM does not end a server that still loads.
- The server runs as user 65534. If /saves is a folder of the machine instead of a volume
  (`-v FOLDER:/saves`), run `chown 65534:65534 FOLDER` first.
";

/// Returns the files of the archive, below its one folder.
pub fn portable(game: &GameFiles, engine: &EngineFile, bundle: Content) -> Archive {
    let mut archive = Archive::default();
    archive.add_program(program_name(engine), Content::bytes(engine.bytes.clone()));
    archive.add(BUNDLE, bundle);
    archive.add("SERVER.txt", Content::bytes(notes(game, engine)));
    if engine.platform == "linux" {
        let text = container_file(game, linux::needed_glibc(&engine.bytes));
        archive.add("Containerfile", Content::bytes(text));
    }
    game.licenses.add_to(&mut archive, "licenses/");
    archive
}

fn program_name(engine: &EngineFile) -> &'static str {
    if engine.platform == "windows" { "engine.exe" } else { "engine" }
}

/// Returns the description of a container image. Nothing from the game's folder is in it but the
/// name of the image, which is made of the file name and has small letters, digits and `-` only.
fn container_file(game: &GameFiles, glibc: Option<(u32, u32)>) -> String {
    let name = file_names::image_name(&game.settings.file_name);
    let glibc = match glibc {
        Some((major, minor)) => format!("glibc {major}.{minor} or newer and "),
        None => String::new(),
    };
    let options = OPTIONS.replace(' ', "\", \"");
    format!(
        "# Image of the server, built in this folder: docker build -f Containerfile -t \
         {name}-server .\n\
         # A run of it: docker run --rm --init -v {name}-saves:/saves {name}-server --seed 7 -- \
         arguments\n\
         # The engine needs {glibc}libgcc.\n\
         FROM debian:stable-slim\n\
         COPY engine {BUNDLE} /server/\n\
         COPY licenses /server/licenses/\n\
         # The user of the server owns the folder of saves and logs, and nothing else.\n\
         RUN install -d -o 65534 -g 65534 /saves\n\
         ENV ENGINE_SAVE_DIR=/saves\n\
         VOLUME /saves\n\
         USER 65534:65534\n\
         ENTRYPOINT [\"/server/engine\", \"run\", \"/server/{BUNDLE}\", \"{options}\"]\n"
    )
}

/// Returns the instructions for the people who run the server.
fn notes(game: &GameFiles, engine: &EngineFile) -> String {
    let program = match engine.platform {
        "windows" => program_name(engine).to_string(),
        _ => format!("./{}", program_name(engine)),
    };
    let (signals, data) = match engine.platform {
        "windows" => ("Ctrl+C", "%APPDATA%\\engine\\games"),
        _ => ("SIGTERM, Ctrl+C", "~/.local/share/engine/games"),
    };
    let mut text = format!(
        "{} {}: server\n\n    {program} run {BUNDLE} {OPTIONS}\n\nplays the game without a window, \
         60 times per second, until the process is asked to end\n({signals}). Arguments for \
         the game follow `--` at the end of the line. `{program} run --help`\nlists all options. \
         Saves and logs are in the folder that the variable ENGINE_SAVE_DIR names,\nif \
         it is set, and else in {data}.\n",
        game.settings.title,
        game.settings.version_text()
    );
    if engine.platform == "linux" {
        text += CONTAINER_NOTES;
    }
    text
}
