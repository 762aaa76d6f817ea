//! `engine docs`: the API, on the terminal, as files, or with the manual in a browser. What stands
//! in them is made in src/script/emit.

mod colours;
mod html;
mod manual;
mod serve;
mod site;

use crate::app::exit;
use crate::foundation::{Error, log};
use crate::script::emit::{self, Api, File, json, luacats, markdown, text};
use site::{FIRST, Site};
use std::path::{Path, PathBuf};

/// Show what a game can call, or write it down for editors and people
#[derive(clap::Args)]
pub struct Args {
    /// A module, function or setting, such as Vector3 or Vector3.length
    #[arg(conflicts_with_all = ["json", "luacats", "markdown", "html"])]
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
    /// The manual and the reference as pages that link to each other, to be put on a server
    #[arg(long, group = "form", requires = "out")]
    html: bool,
    /// Show the manual and the reference in a browser, without a network
    #[arg(long, conflicts_with = "form")]
    open: bool,
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
        if !args.open {
            print(&help);
            return Ok(());
        }
    }
    if args.open {
        let site = Site::new(&api);
        let place = args.name.as_deref().map_or_else(|| FIRST.to_string(), |name| site.place(name));
        return serve::serve(site, &place).map_err(|error| (error, exit::FAILED));
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
    } else if let (true, Some(folder)) = (args.html, args.out.as_deref()) {
        let site = Site::new(api);
        site.write(folder)?;
        tell(site.files.len(), folder);
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
    tell(files.len(), folder);
    Ok(())
}

fn tell(count: usize, folder: &Path) {
    let plural = if count == 1 { "" } else { "s" };
    print(&format!("{count} file{plural} written to {}\n", folder.display()));
}

/// Every text ends in a line break of its own; the log adds one.
fn print(text: &str) {
    log::info(text.strip_suffix('\n').unwrap_or(text));
}
