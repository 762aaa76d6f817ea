//! `engine docs`: the API, on the terminal or as files. What stands in them is made in
//! src/script/emit.

use crate::app::exit;
use crate::foundation::{Error, log};
use crate::script::emit::{self, Api, File, json, luacats, markdown, text};
use std::path::{Path, PathBuf};

/// Show what a game can call, or write it down for editors and people
#[derive(clap::Args)]
pub struct Args {
    /// A module, function or setting, such as Vector3 or Vector3.length
    #[arg(conflicts_with_all = ["json", "luacats", "markdown"])]
    name: Option<String>,
    /// Everything, as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Definition files for editors
    #[arg(long, group = "form")]
    luacats: bool,
    /// The reference, a page for each module, and the page of settings
    #[arg(long, group = "form")]
    markdown: bool,
    /// Write files into this folder, not to the terminal
    #[arg(long, value_name = "FOLDER", requires = "form")]
    out: Option<PathBuf>,
}

pub fn main(args: Args) -> i32 {
    match run(&args) {
        Ok(()) => exit::SUCCESS,
        Err((error, code)) => {
            log::error(&error.to_string());
            code
        }
    }
}

/// An error with the exit code that tells of it.
fn run(args: &Args) -> Result<(), (Error, i32)> {
    let api = Api::new();
    if let Some(name) = &args.name {
        let help = text::help(&api, name).map_err(|error| (error, exit::USAGE))?;
        print(&help);
        return Ok(());
    }
    write(args, &api).map_err(|error| (error, exit::FAILED))
}

fn write(args: &Args, api: &Api) -> Result<(), Error> {
    if args.json {
        let file = File { name: "api.json".to_string(), text: json::text(api) };
        put(&[file], args.out.as_deref())?;
    } else if args.luacats {
        put(&luacats::files(api), args.out.as_deref())?;
    } else if args.markdown {
        put(&markdown::files(api), args.out.as_deref())?;
    } else {
        print(&text::index(api));
    }
    Ok(())
}

/// Writes the files, or prints them one after the other.
fn put(files: &[File], folder: Option<&Path>) -> Result<(), Error> {
    let Some(folder) = folder else {
        print(&files.iter().map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n"));
        return Ok(());
    };
    emit::write(folder, files).map_err(|error| {
        let message = format!("{}: choose another with --out", error.message);
        Error { message, ..error }
    })?;
    let plural = if files.len() == 1 { "" } else { "s" };
    print(&format!("{} file{plural} written to {}\n", files.len(), folder.display()));
    Ok(())
}

/// Every text ends in a line break of its own; the log adds one.
fn print(text: &str) {
    log::info(text.strip_suffix('\n').unwrap_or(text));
}
