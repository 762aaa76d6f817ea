//! `engine docs`: prints the API, writes it to files, or shows it with the manual in a browser.
//! src/script/docgen generates the content.

mod html;
mod lookup;
mod lua_highlight;
pub(super) mod manual;
pub mod search;
#[cfg(test)]
mod searches;
mod server;
pub mod site;

use super::man_page;
use engine_app::exit;
use engine_foundation::{Error, log};
use engine_script::docgen::{self, ApiModel, GeneratedFile, json, luacats, markdown, text};
use site::{FIRST, Site};
use std::path::{Path, PathBuf};

/// Show the reference of the API, or write it as files for editors and people
#[derive(clap::Args)]
pub struct Args {
    /// A module, function, setting or page of the manual, such as Vector3.length or physics, or
    /// words to search for, such as draw image
    #[arg(value_name = "WORDS", conflicts_with = "form")]
    query: Vec<String>,
    /// Write the whole API as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Write definition files for editors
    #[arg(long, group = "form")]
    luacats: bool,
    /// Write the reference: a page for each module, and the page of settings
    #[arg(long, group = "form")]
    markdown: bool,
    /// Write the manual and the reference as linked HTML pages, for a web server
    #[arg(long, group = "form", requires = "out")]
    html: bool,
    /// Print the manual page of the command line, for man
    #[arg(long, group = "form", conflicts_with = "out")]
    man: bool,
    /// Open the manual and the reference in a browser; this needs no network
    #[arg(long, conflicts_with = "form")]
    open: bool,
    /// Write files into this folder instead of printing them
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

/// Runs the command. Returns an error with its exit code.
fn run(args: &Args) -> Result<(), (Error, i32)> {
    let api = ApiModel::new();
    let query = args.query.join(" ");
    if args.open {
        let site = Site::new(&api);
        let path = if query.is_empty() { FIRST.to_string() } else { site.path_of_name(&query) };
        return server::serve(site, &path).map_err(|error| (error, exit::FAILED));
    }
    if !query.is_empty() {
        print(&lookup::answer(&api, &query).map_err(|error| (error, exit::FAILED))?);
        return Ok(());
    }
    write(args, &api).map_err(|error| (error, exit::FAILED))
}

fn write(args: &Args, api: &ApiModel) -> Result<(), Error> {
    if args.json {
        let file = GeneratedFile { name: "api.json".to_string(), text: json::text(api) };
        write_files(&[file], args.out.as_deref())?;
    } else if args.luacats {
        write_files(&luacats::files(api), args.out.as_deref())?;
    } else if args.markdown {
        write_files(&markdown::files(api), args.out.as_deref())?;
    } else if args.man {
        print(&man_page::text());
    } else if let (true, Some(folder)) = (args.html, args.out.as_deref()) {
        let site = Site::new(api);
        site.write(folder)?;
        report_written(site.files.len(), folder);
    } else {
        print(&text::index(api));
    }
    Ok(())
}

/// Writes the files to a folder, or prints them one after the other.
fn write_files(files: &[GeneratedFile], folder: Option<&Path>) -> Result<(), Error> {
    let Some(folder) = folder else {
        print(&files.iter().map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n"));
        return Ok(());
    };
    docgen::write(folder, files).map_err(|error| {
        let message = format!("{}: choose another with --out", error.message);
        Error { message, ..error }
    })?;
    report_written(files.len(), folder);
    Ok(())
}

fn report_written(count: usize, folder: &Path) {
    let plural = if count == 1 { "" } else { "s" };
    print(&format!("{count} file{plural} written to {}\n", folder.display()));
}

/// Prints a text. Every text ends in a line break, and the log adds one.
fn print(text: &str) {
    log::info(text.strip_suffix('\n').unwrap_or(text));
}
