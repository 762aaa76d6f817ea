//! `engine test`: runs the Lua suites of a game or library.

use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use super::thread_flags::ThreadFlags;
use super::variant_flags::VariantFlags;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use engine_app::exit;
use engine_app::testing::output::OUTPUTS;
use engine_app::testing::{self, SearchRoots, TestOptions};
use engine_foundation::log;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Run the Lua tests of a game or library
///
/// Tests are *_test.lua, and *_spec.lua below a folder spec, specs, test or tests. Each file runs
/// in a fresh engine, headless, with fixed steps of 1/60 second and the same random numbers every
/// time. Modules are found in the folder, in its lua, src and lib folders, and in the folder of the
/// test. The game's main.lua does not run unless a test calls test.boot().
#[derive(clap::Args)]
pub struct Args {
    /// The folder of the game or library, or one test file
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Run only files whose path contains one of these texts
    files: Vec<String>,
    /// Run only tests whose full name matches this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<String>,
    /// Skip tests whose full name matches this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    filter_out: Vec<String>,
    /// Run only the test with exactly this full name
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Run only tests with one of these #tags in their names
    #[arg(long, value_name = "TAG,TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Skip tests with one of these #tags in their names
    #[arg(long, value_name = "TAG,TAG", value_delimiter = ',')]
    exclude_tags: Vec<String>,
    /// List the tests that would run, without running them
    #[arg(long)]
    list: bool,
    /// Stop after the first test that fails
    #[arg(long)]
    fail_fast: bool,
    /// Run files and tests in a random order
    #[arg(long)]
    shuffle: bool,
    /// Random seed, also of the shuffled order [default: 0; from the clock if shuffled]
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Give tests the whole Lua library (io, debug, ffi …), for libraries that are not games
    #[arg(long)]
    no_sandbox: bool,
    /// More folders to search for modules, such as "src/?.lua;ext/?/init.lua"
    #[arg(long, value_name = "PATHS", value_parser = lpath)]
    lpath: Vec<SearchPath>,
    /// Run a script before each file; its hooks apply to every test
    #[arg(long, value_name = "FILE|MODULE")]
    helper: Option<String>,
    /// Test files are those whose name matches this Lua pattern, instead of the usual names
    #[arg(long, value_name = "PATTERN")]
    pattern: Vec<String>,
    /// Skip files whose name matches this Lua pattern
    #[arg(long, value_name = "PATTERN")]
    exclude_pattern: Vec<String>,
    /// Use this profile of the folder's .busted file instead of `default`
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Do not read the folder's .busted file
    #[arg(long, conflicts_with = "run")]
    no_config: bool,
    /// CPU time limit of one test, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds,
          allow_negative_numbers = true)]
    timeout: f64,
    /// Output format [default: dots on a terminal, otherwise plain]. junit=report.xml writes that
    /// format to a file as well; can be repeated
    #[arg(long, short, value_name = "FORMAT|FORMAT=FILE", value_parser = OutputParser)]
    output: Vec<Output>,
    /// Write the output to a file; the terminal shows the default format
    #[arg(long, value_name = "FILE", requires = "output")]
    output_file: Option<PathBuf>,
    /// List the N slowest tests at the end
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    slowest: usize,
    /// Run files in N processes in parallel [default: the number of cores]
    #[arg(long, short, value_name = "N", value_parser = jobs, allow_negative_numbers = true)]
    jobs: Option<usize>,
    #[command(flatten)]
    threads: ThreadFlags,
    /// Run a file with failures up to N times again; a test that then passes is flaky
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(0..=testing::RETRIES_MAX as i64),
          allow_negative_numbers = true)]
    retry: u32,
    /// Run the tests that a saved file affects again, until stopped
    #[arg(long, conflicts_with = "list")]
    watch: bool,
    /// Let tools connect, and wait for a debugger before the one file is loaded (engine dap)
    #[arg(long, conflicts_with_all = ["no_sandbox", "watch", "list", "jobs", "shard", "repeat",
          "retry", "coverage", "api_coverage"])]
    debug: bool,
    /// End when standard input is closed: when the program that has started the tests ends
    #[arg(long)]
    end_with_input: bool,
    /// Write the files of screenshots instead of comparing with them: check the files afterwards
    #[arg(long)]
    update_golden: bool,
    /// Run files and tests in the order of their names
    #[arg(long, conflicts_with = "shuffle")]
    sort: bool,
    /// Run only one part of the files, for several machines: 2/4 is the second of four parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Run everything N times
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
          value_parser = clap::value_parser!(u32).range(1..=testing::REPEAT_MAX as i64),
          allow_negative_numbers = true)]
    repeat: u32,
    /// Write the line coverage of the game's files, in lcov format [default: lcov.info]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = testing::COVERAGE_FILE)]
    coverage: Option<PathBuf>,
    /// Write the number of calls of each function of the engine's API, as JSON
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    api_coverage: Option<PathBuf>,
    #[command(flatten)]
    variants: VariantFlags,
    #[command(flatten)]
    confine: ConfinementFlag,
    /// Confine tests without the sandbox too, to test the confinement itself
    #[arg(long, hide = true, requires = "no_sandbox")]
    confined: bool,
    /// Run the files that another process requests
    #[arg(long, hide = true)]
    worker: bool,
}

/// Largest seed that Lua's numbers represent exactly.
const SEED_MAX: u64 = (1 << 53) - 1;

/// CPU time limit of a test that is debugged, in seconds: the largest.
const DEBUG_SECONDS: f64 = 86_400.0;

/// Folders of a module search path.
#[derive(Clone)]
struct SearchPath(Vec<String>);

fn lpath(text: &str) -> Result<SearchPath, String> {
    testing::folders_of_lpath(text).map(SearchPath)
}

fn seed(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seed) if seed <= SEED_MAX => Ok(seed),
        _ => Err(format!("must be a whole number from 0 to {SEED_MAX}")),
    }
}

/// Parses the number of a part, from 1, and the number of parts.
fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(number, count)| {
        Some((number.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    });
    match parts {
        Some((number, count)) if (1..=testing::SHARDS_MAX).contains(&count) => {
            match (1..=count).contains(&number) {
                true => Ok((number, count)),
                false => Err(format!("must be a part from 1 to {count}, as 1/{count}")),
            }
        }
        _ => Err(format!(
            "must be a part and the number of parts, as 2/4, of at most {} (SHARDS_MAX)",
            testing::SHARDS_MAX
        )),
    }
}

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(jobs) if (1..=testing::JOBS_MAX).contains(&jobs) => Ok(jobs),
        _ => Err(format!("must be a number of processes, from 1 to {}", testing::JOBS_MAX)),
    }
}

/// A format, and the file that it is written to, if it is not standard output.
#[derive(Clone)]
struct Output {
    format: String,
    file: Option<PathBuf>,
}

/// Parser of `FORMAT` and `FORMAT=FILE`.
#[derive(Clone)]
struct OutputParser;

/// Returns the output formats as values of a flag.
fn format_values() -> PossibleValuesParser {
    OUTPUTS.iter().map(|form| PossibleValue::new(form.name).help(form.doc)).into()
}

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        let (format, file) = match value.to_str().and_then(|text| text.split_once('=')) {
            Some((format, file)) => (OsStr::new(format), Some(PathBuf::from(file))),
            None => (value, None),
        };
        if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            let message = format!(
                "'--output {}' names no file: write --output junit=report.xml\n",
                value.display()
            );
            return Err(clap::Error::raw(ErrorKind::InvalidValue, message));
        }
        let format = format_values().parse_ref(command, argument, format)?;
        Ok(Output { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(OUTPUTS.iter().map(|form| PossibleValue::new(form.name).help(form.doc))))
    }
}

/// Formats with the files that they are written to.
type OutputFiles = Vec<(String, PathBuf)>;

/// Divides the outputs into the format of standard output, if one is chosen, and the files with
/// their formats. Returns a message if they do not fit together.
fn outputs(
    chosen: Vec<Output>,
    file: Option<PathBuf>,
) -> Result<(Option<String>, OutputFiles), String> {
    let (mut terminal, mut files) = (None, Vec::new());
    for Output { format, file } in chosen {
        match file {
            Some(file) => files.push((format, file)),
            None if terminal.is_none() => terminal = Some(format),
            None => {
                return Err(format!(
                    "--output {format}: the terminal can show one format: write the others to \
                     files, as in --output {format}=report"
                ));
            }
        }
    }
    if let Some(file) = file {
        let Some(format) = terminal.take() else {
            let message = "--output-file is for an --output without a file: leave it out";
            return Err(message.to_string());
        };
        files.push((format, file));
    }
    for (index, (_, file)) in files.iter().enumerate() {
        if files[..index].iter().any(|(_, other)| other == file) {
            return Err(format!(
                "two outputs are written to '{}': give each a file of its own",
                file.display()
            ));
        }
    }
    Ok((terminal, files))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, from 0.01 to 86400".to_string()),
    }
}

pub fn main(args: Args) -> i32 {
    if args.worker {
        return testing::run_files(&args.path);
    }
    let (output, output_files) = match outputs(args.output, args.output_file) {
        Ok(outputs) => outputs,
        Err(message) => {
            log::error(&message);
            return exit::USAGE;
        }
    };
    let variants = match args.variants.choice() {
        Ok(variants) => variants,
        Err(error) => {
            log::error(&error.to_string());
            return exit::USAGE;
        }
    };
    editor_definitions::refresh(&args.path);
    testing::test(&TestOptions {
        start: args.path,
        files: args.files,
        filter: args.filter,
        filter_out: args.filter_out,
        names: args.name,
        tags: args.tags,
        exclude_tags: args.exclude_tags,
        shard: args.shard,
        list: args.list,
        fail_fast: args.fail_fast,
        shuffle: args.shuffle,
        seed: args.seed,
        sandbox: !args.no_sandbox,
        // Suites without the Lua sandbox may open files and start programs, so the process is not
        // confined.
        confined: (!args.no_sandbox || args.confined) && args.confine.is_enabled(),
        config: !args.no_config,
        task: args.run,
        helper: args.helper,
        search_roots: SearchRoots {
            roots: Vec::new(),
            patterns: args.pattern,
            excludes: args.exclude_pattern,
            flat: false,
        },
        lpath: args.lpath.into_iter().flat_map(|lpath| lpath.0).collect(),
        // A person takes any time, and lines that are followed are slow.
        timeout_seconds: if args.debug { DEBUG_SECONDS } else { args.timeout },
        api_coverage: args.api_coverage,
        coverage: args.coverage,
        output,
        output_files,
        slowest: args.slowest,
        jobs: if args.debug { Some(1) } else { args.jobs },
        threads: args.threads.number(),
        retry: args.retry,
        watch: args.watch,
        debug: args.debug,
        ends_with_input: args.end_with_input,
        update_golden: args.update_golden,
        sort: args.sort,
        repeat: args.repeat,
        variants,
        ..TestOptions::new(PathBuf::new())
    })
}
