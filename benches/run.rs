//! A run of the benchmarks: the options of the command line, and the results so far; and how
//! benchmarks start a game.

use crate::table::{self, Group};
use engine::app::{App, Game, GameLaunch};
use std::path::Path;

pub struct Run {
    /// Parts to measure; all if it is empty.
    expected: Vec<String>,
    /// Parts that exist, as far as they were asked for.
    known: Vec<String>,
    /// Number of processes for each result of a comparison.
    pub processes: usize,
    /// Files to write: all results as JSON, and the table of docs/performance.md.
    json: Option<String>,
    pub markdown: Option<String>,
    pub groups: Vec<Group>,
}

impl Run {
    /// Reads the arguments after the subject.
    pub fn new(mut arguments: impl Iterator<Item = String>) -> Run {
        let mut run = Run {
            expected: Vec::new(),
            known: Vec::new(),
            processes: 3,
            json: None,
            markdown: None,
            groups: Vec::new(),
        };
        while let Some(word) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match &word[..] {
                "--json" => run.json = Some(value()),
                "--markdown" => run.markdown = Some(value()),
                "--runs" => {
                    let number = value().parse().ok().filter(|number| *number > 0);
                    run.processes = number.expect("--runs needs a number from 1");
                }
                option if option.starts_with('-') => {
                    panic!("'{option}' is not an option: --json, --markdown, --runs");
                }
                _ => run.expected.push(word),
            }
        }
        run
    }

    /// Returns true if this part of a subject is to be measured.
    pub fn wants(&mut self, part: &str) -> bool {
        self.known.push(part.to_string());
        self.expected.is_empty() || self.expected.iter().any(|word| word == part)
    }

    /// Measures a part, if it is wanted, and prints its results.
    pub fn part(&mut self, part: &str, measure: impl FnOnce() -> Group) {
        if self.wants(part) {
            self.add(measure());
        }
    }

    /// Adds results and prints them.
    pub fn add(&mut self, group: Group) {
        table::print(&group);
        self.groups.push(group);
    }

    /// Prints the sum and writes the file of results.
    pub fn end(self) {
        for word in &self.expected {
            let known = self.known.join(", ");
            assert!(self.known.contains(word), "'{word}' is not a part: {known}");
        }
        table::print_sum(&self.groups);
        if let Some(file) = self.json {
            let text = table::json(&self.groups);
            std::fs::write(&file, text).expect("the JSON file cannot be written");
        }
    }
}

/// Returns the options with which benchmarks open the game of a folder.
pub fn launch(folder: &Path) -> GameLaunch {
    let game = Game::Folder(folder.to_path_buf());
    GameLaunch { seed: 1, threads: Some(1), ..GameLaunch::headless(game) }
}

/// Opens and starts a game, which must not fail.
pub fn start(launch: GameLaunch) -> App {
    let mut app = App::open(launch).unwrap_or_else(|error| panic!("{error}"));
    app.start().unwrap_or_else(|report| panic!("{report}"));
    app
}
