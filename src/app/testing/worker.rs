//! A process that runs files for another one (crew.rs): the options and the files' paths come on
//! standard input; what comes of each file goes out on standard output, in frames between what the
//! tests print. Standard error has an empty frame at each file's end.

use super::file::{self, Plan};
use super::frames::{frame, marker};
use super::result::{Outcome, TestResult};
use super::stuck::Watched;
use super::{Options, Stop, confine};
use crate::app::{exit, resources};
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::{Error, log};
use crate::resource::store::Store;
use crate::system::platform;
use std::cell::Cell;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a process has to know before its first file, beside the options.
pub struct Start {
    pub nonce: u64,
    /// The game has compiled resources.
    pub has_store: bool,
}

impl Start {
    pub fn to_bytes(&self, options: &Options) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u64(self.nonce);
        writer.u8(self.has_store as u8);
        write_options(&mut writer, options);
        sized(&writer.finish())
    }

    fn read(bytes: &[u8], root: PathBuf) -> Result<(Start, Options), Error> {
        let mut reader = Reader::new(bytes);
        let start = Start { nonce: reader.u64()?, has_store: reader.u8()? != 0 };
        Ok((start, read_options(&mut reader, root)?))
    }
}

/// What a process needs of the options: the rest is its parent's.
fn write_options(writer: &mut Writer, options: &Options) {
    let Options { filter, filter_out, names, exclude_names, tags, exclude_tags, .. } = options;
    let Options { lpath, helper_arguments, statements, .. } = options;
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
}

fn read_options(reader: &mut Reader, root: PathBuf) -> Result<Options, Error> {
    let text = |reader: &mut Reader| reader.text().map(str::to_string);
    let mut options = Options::new(root);
    let Options {
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
        return Err(crate::error!("the options have {} flags", flags.len()));
    };
    let &[api_coverage, coverage, names, update_golden, sort] = rest else {
        return Err(crate::error!("the options have {} flags", flags.len()));
    };
    // What is counted is sent, not written: the files are the parent's.
    let here = |on: bool| on.then(PathBuf::new);
    options = Options {
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
    Ok(options)
}

/// The bytes that ask for a file.
pub fn request(file: &str) -> Vec<u8> {
    sized(file.as_bytes())
}

fn sized(content: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes(content);
    writer.finish()
}

/// The next sized bytes, `None` at the end.
fn next(input: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length).ok()?;
    let mut content = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut content).ok()?;
    Some(content)
}

/// What a process sends.
pub enum Message {
    Test(TestResult),
    Done(Outcome),
    Stop(Stop),
}

impl Message {
    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Message::Test(test) => {
                writer.u8(0);
                test.write(&mut writer);
            }
            Message::Done(outcome) => {
                writer.u8(1);
                outcome.write(&mut writer);
            }
            Message::Stop(stop) => {
                writer.u8(2);
                writer.u32(stop.code as u32);
                writer.text(&stop.words);
            }
        }
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Message, Error> {
        let mut reader = Reader::new(bytes);
        Ok(match reader.u8()? {
            0 => Message::Test(TestResult::read(&mut reader)?),
            1 => Message::Done(Outcome::read(&mut reader)?),
            2 => Message::Stop(Stop {
                code: reader.u32()? as i32,
                words: reader.text()?.to_string(),
            }),
            kind => return Err(crate::error!("a message of the unknown kind {kind}")),
        })
    }
}

/// Runs files for another process, until it asks for no more.
pub fn work(root: &Path) -> i32 {
    // A test that reads must not take what is for this process.
    let mut input = match platform::divert_input() {
        Ok(input) => input,
        Err(reason) => {
            log::error(&format!("standard input cannot be kept from tests: {reason}"));
            return exit::ENGINE;
        }
    };
    let Some(Ok((start, options))) = next(&mut input).map(|b| Start::read(&b, root.to_path_buf()))
    else {
        log::error("--worker is for `engine test` itself: use --jobs");
        return exit::USAGE;
    };
    if options.confined {
        confine::worker(root, &options);
    }
    let marker = marker(start.nonce);
    let store = if start.has_store { resources::opened(root) } else { Store::default() };
    let watched = Watched::start(options.timeout_seconds, false);
    let ends = Cell::new(false);
    let plan = Plan { root, options: &options, store: &store, watched: &watched, ends };
    let send = |message: &Message| {
        let mut out = std::io::stdout().lock();
        // Without a parent there is no next file either.
        let _ = out.write_all(&frame(&marker, &message.to_bytes())).and_then(|()| out.flush());
    };
    let mut last = None;
    while let Some(path) = next(&mut input) {
        let path = String::from_utf8_lossy(&path);
        // Before the next one is made: two games' memory need not be there at once.
        drop(last.take());
        let ran = file::run_any(&plan, &path, &mut |test| send(&Message::Test(test)));
        send(&match ran {
            Ok((outcome, app)) => {
                last = app;
                Message::Done(outcome)
            }
            Err(stop) => Message::Stop(stop),
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
    fn the_options_that_decide_what_runs_reach_the_other_process() {
        let mut options = Options::new(PathBuf::from("game"));
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
        let bytes = Start { nonce: 5, has_store: true }.to_bytes(&options);
        let read = next(&mut &bytes[..]).unwrap();
        let (start, read) = Start::read(&read, PathBuf::from("game")).unwrap();
        assert!(start.nonce == 5 && start.has_store);
        options.output = Some("plain".into());
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
        assert!(Start::read(&bytes[4..bytes.len() - 1], PathBuf::new()).is_err());
    }
}
