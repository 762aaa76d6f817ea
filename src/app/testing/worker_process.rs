//! A worker process, which runs test files for its parent (process_pool.rs). Options and file paths
//! arrive on standard input. Results leave on standard output, in frames between the output of the
//! tests. Standard error has an empty frame at each file's end.

use super::hang_watchdog::HangWatchdog;
use super::result::{FileOutcome, TestResult};
use super::stdio_framing::{frame, marker};
use super::test_file::{self, TestPlan};
use super::{RunAborted, TestOptions, run_confinement};
use crate::resource_kinds::KINDS;
use crate::{VariantChoice, exit, resource_reload};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, log};
use engine_platform as platform;
use engine_resource::store::ResourceStore;
use engine_resource::variant::VariantPreferences;
use std::cell::Cell;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Parameters of a worker before its first file, in addition to the options.
pub struct ProcessStart {
    pub nonce: u64,
    /// True if the game has compiled resources.
    pub has_store: bool,
}

impl ProcessStart {
    pub fn to_bytes(&self, options: &TestOptions) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.u64(self.nonce);
        writer.u8(self.has_store as u8);
        write_options(&mut writer, options);
        length_prefixed(&writer.finish())
    }

    fn read(bytes: &[u8], root: PathBuf) -> Result<(ProcessStart, TestOptions), Error> {
        let mut reader = BlobReader::new(bytes);
        let start = ProcessStart { nonce: reader.u64()?, has_store: reader.u8()? != 0 };
        Ok((start, read_options(&mut reader, root)?))
    }
}

/// Writes the options that a worker needs. The parent handles the others.
fn write_options(writer: &mut BlobWriter, options: &TestOptions) {
    let TestOptions { filter, filter_out, names, exclude_names, tags, exclude_tags, .. } = options;
    let TestOptions { lpath, helper_arguments, statements, .. } = options;
    let lists = [filter, filter_out, names, tags, exclude_tags, lpath];
    for list in lists.into_iter().chain([helper_arguments, exclude_names, statements]) {
        writer.list(list, |writer, text| writer.text(text));
    }
    let flags = [
        options.list,
        options.fail_fast,
        options.shuffle,
        options.sandbox,
        options.confined,
        options.api_coverage.is_some(),
        options.coverage.is_some(),
        options.wants_names(),
        options.update_golden,
        options.sort,
    ];
    writer.list(&flags, |writer, flag| writer.u8(*flag as u8));
    writer.u64(options.seed());
    writer.f64(options.timeout_seconds);
    writer.u64(options.threads.map_or(0, |threads| threads as u64));
    let helper: Vec<&String> = options.helper.iter().collect();
    writer.list(&helper, |writer, helper| writer.text(helper));
    let VariantChoice { source_platform, preferences } = &options.variants;
    let platform: Vec<&String> = source_platform.iter().collect();
    writer.list(&platform, |writer, platform| writer.text(platform));
    writer.list(preferences.properties(), |writer, property| writer.text(property));
}

fn read_options(reader: &mut BlobReader, root: PathBuf) -> Result<TestOptions, Error> {
    let text = |reader: &mut BlobReader| reader.text().map(str::to_string);
    let mut options = TestOptions::new(root);
    let TestOptions {
        filter,
        filter_out,
        names,
        exclude_names,
        tags,
        exclude_tags,
        lpath,
        helper_arguments,
        statements,
        ..
    } = &mut options;
    let lists = [filter, filter_out, names, tags, exclude_tags, lpath];
    for list in lists.into_iter().chain([helper_arguments, exclude_names, statements]) {
        *list = reader.list(|reader| reader.text().map(str::to_string))?;
    }
    let flags = reader.list(|reader| Ok(reader.u8()? != 0))?;
    let &[list, fail_fast, shuffle, sandbox, confined, ref rest @ ..] = &flags[..] else {
        return Err(engine_foundation::error!("the options have {} flags", flags.len()));
    };
    let &[api_coverage, coverage, names, update_golden, sort] = rest else {
        return Err(engine_foundation::error!("the options have {} flags", flags.len()));
    };
    // Coverage is sent to the parent, which writes the files.
    let here = |on: bool| on.then(PathBuf::new);
    options = TestOptions {
        list,
        fail_fast,
        shuffle,
        sandbox,
        confined,
        update_golden,
        sort,
        api_coverage: here(api_coverage),
        coverage: here(coverage),
        output: Some(if names { "spec" } else { "plain" }.to_string()),
        seed: Some(reader.u64()?),
        timeout_seconds: reader.f64()?,
        threads: Some(reader.u64()? as usize).filter(|threads| *threads > 0),
        ..options
    };
    options.helper = reader.list(text)?.pop();
    let source_platform = reader.list(text)?.pop();
    let preferences = VariantPreferences::new(reader.list(text)?).map_err(Error::new)?;
    options.variants = VariantChoice { source_platform, preferences };
    Ok(options)
}

/// Returns the bytes that request a file.
pub fn request(file: &str) -> Vec<u8> {
    length_prefixed(file.as_bytes())
}

fn length_prefixed(content: &[u8]) -> Vec<u8> {
    let mut writer = BlobWriter::default();
    writer.bytes(content);
    writer.finish()
}

/// Reads the next length-prefixed bytes, or returns `None` at the end.
fn next(input: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length).ok()?;
    let mut content = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut content).ok()?;
    Some(content)
}

/// Message from a worker to its parent.
pub enum ProcessMessage {
    Test(TestResult),
    Done(FileOutcome),
    Stop(RunAborted),
}

impl ProcessMessage {
    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        match self {
            ProcessMessage::Test(test) => {
                writer.u8(0);
                test.write(&mut writer);
            }
            ProcessMessage::Done(outcome) => {
                writer.u8(1);
                outcome.write(&mut writer);
            }
            ProcessMessage::Stop(stop) => {
                writer.u8(2);
                writer.u32(stop.code as u32);
                writer.text(&stop.message);
            }
        }
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<ProcessMessage, Error> {
        let mut reader = BlobReader::new(bytes);
        Ok(match reader.u8()? {
            0 => ProcessMessage::Test(TestResult::read(&mut reader)?),
            1 => ProcessMessage::Done(FileOutcome::read(&mut reader)?),
            2 => ProcessMessage::Stop(RunAborted {
                code: reader.u32()? as i32,
                message: reader.text()?.to_string(),
            }),
            kind => return Err(engine_foundation::error!("a message of the unknown kind {kind}")),
        })
    }
}

/// Runs files for the parent process until it requests no more.
pub fn run_files(root: &Path) -> i32 {
    // A test that reads standard input must not take data meant for this process.
    let mut input = match platform::redirect_input() {
        Ok(input) => input,
        Err(reason) => {
            log::error(&format!("standard input cannot be kept from tests: {reason}"));
            return exit::ENGINE;
        }
    };
    let Some(Ok((start, options))) =
        next(&mut input).map(|b| ProcessStart::read(&b, root.to_path_buf()))
    else {
        log::error("--worker is for `engine test` itself: use --jobs");
        return exit::USAGE;
    };
    if options.confined {
        run_confinement::worker(root, &options);
    }
    let marker = marker(start.nonce);
    let store = if start.has_store {
        resource_reload::open_compiled(root, options.variants.platform())
    } else {
        ResourceStore::empty(KINDS)
    };
    let watchdog = HangWatchdog::start(options.timeout_seconds, false);
    let ends = Cell::new(false);
    let plan = TestPlan { root, options: &options, store: &store, watchdog: &watchdog, ends };
    let send = |message: &ProcessMessage| {
        let mut out = std::io::stdout().lock();
        // If the parent is gone, no next file arrives either.
        let _ = out.write_all(&frame(&marker, &message.to_bytes())).and_then(|()| out.flush());
    };
    let mut last = None;
    while let Some(path) = next(&mut input) {
        let path = String::from_utf8_lossy(&path);
        // Dropped before the next engine is created, so that only one game's memory is in use at a
        // time.
        drop(last.take());
        let ran = test_file::run_any(&plan, &path, &mut |test| send(&ProcessMessage::Test(test)));
        send(&match ran {
            Ok((outcome, app)) => {
                last = app;
                ProcessMessage::Done(outcome)
            }
            Err(stop) => ProcessMessage::Stop(stop),
        });
        let _ = std::io::stderr().write_all(&frame(&marker, b""));
    }
    std::mem::forget(last);
    exit::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_options_are_passed_to_worker_processes() {
        let mut options = TestOptions::new(PathBuf::from("game"));
        options.filter = vec!["a".into()];
        options.exclude_tags = vec!["b".into(), "c".into()];
        options.lpath = vec!["lib".into()];
        (options.list, options.shuffle, options.sandbox) = (true, true, false);
        options.seed = Some(7);
        options.timeout_seconds = 0.5;
        options.helper = Some("spec/helper.lua".into());
        options.threads = Some(3);
        (options.update_golden, options.sort) = (true, true);
        options.helper_arguments = vec!["x".into()];
        options.exclude_names = vec!["a b".into()];
        options.statements = vec!["x = 1".into()];
        options.variants = VariantChoice {
            source_platform: Some("web".into()),
            preferences: VariantPreferences::new(vec!["fr".into()]).unwrap(),
        };
        let bytes = ProcessStart { nonce: 5, has_store: true }.to_bytes(&options);
        let read = next(&mut &bytes[..]).unwrap();
        let (start, read) = ProcessStart::read(&read, PathBuf::from("game")).unwrap();
        assert!(start.nonce == 5 && start.has_store);
        options.output = Some("plain".into());
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
        assert!(ProcessStart::read(&bytes[4..bytes.len() - 1], PathBuf::new()).is_err());
    }
}
