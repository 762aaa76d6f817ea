//! Tests of the shared cache: two machines are two folders with the same sources.

use super::super::compile::compile;
use super::super::resource_kind::{ResourceKinds, SourceForm, kind_names};
use super::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

thread_local! {
    /// Number of sources that this thread has compiled.
    static COMPILED: Cell<usize> = const { Cell::new(0) };
}

/// Text in capitals. `use PATH` includes a file.
const TEXT: ResourceKind = ResourceKind {
    name: "text",
    doc: "Text in capitals",
    extensions: &[("text", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[],
    compile: |context| {
        COMPILED.set(COMPILED.get() + 1);
        let text = context.text()?.to_string();
        let included = match text.strip_prefix("use ") {
            Some(path) => context.read(path)?,
            None => Vec::new(),
        };
        Ok([text.to_uppercase().into_bytes(), included].concat())
    },
    validate: |data| match data.starts_with(b"BAD") {
        true => Err(error!("it is damaged")),
        false => Ok(()),
    },
};
/// A level, from which its navigation mesh is derived.
const LEVEL: ResourceKind = ResourceKind {
    name: kind_names::LEVEL,
    doc: "A level",
    extensions: &[("level", SourceForm::Own)],
    compile: |context| {
        COMPILED.set(COMPILED.get() + 1);
        let name = ResourceName::new(kind_names::NAVIGATION_MESH, &context.name.name);
        context.references.push(name);
        Ok(context.bytes.clone())
    },
    validate: |_| Ok(()),
    ..TEXT
};
/// The text that a level names, from the store.
const MESH: ResourceKind = ResourceKind {
    name: kind_names::NAVIGATION_MESH,
    doc: "A navigation mesh",
    extensions: &[],
    compile: |context| {
        COMPILED.set(COMPILED.get() + 1);
        let level = ResourceName::new(kind_names::LEVEL, &context.name.name);
        let text = String::from_utf8(context.store.read(&level)?.to_vec()).unwrap();
        let text = ResourceName::new("text", &text);
        Ok(context.store.read(&text)?.to_vec())
    },
    ..TEXT
};
static KINDS: &[&ResourceKind] = &[&LEVEL, &MESH, &TEXT];

/// A folder of a machine, or the cache.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("engine-{}-cache-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).unwrap();
    }

    /// Compiles with a cache. Returns its numbers, and the number of compiled sources.
    fn compile(&self, cache: &Scratch) -> (CacheStats, usize) {
        self.compile_with(&SharedCache::open(cache.0.to_str().unwrap()).unwrap())
    }

    fn compile_with(&self, cache: &SharedCache) -> (CacheStats, usize) {
        let target = CompileTarget {
            root: &self.0,
            data: self.0.join(".engine/data/linux"),
            kinds: ResourceKinds(KINDS),
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        fs::create_dir_all(&target.data).unwrap();
        let mut stats = cache.fetch(&target).unwrap();
        COMPILED.set(0);
        let compiled = compile(&target, &|_, _| {}).unwrap();
        assert_eq!(compiled.problems, [] as [String; 0]);
        // A server that does not answer is a warning of the command.
        stats.stored = cache.store(&target, &compiled.index).unwrap_or_default();
        (stats, COMPILED.get())
    }

    fn data(&self) -> Vec<String> {
        let folder = self.0.join(".engine/data/linux");
        let index = read_index(&folder);
        let read = |entry: &IndexEntry| fs::read_to_string(folder.join(&entry.data)).unwrap();
        index.entries.iter().map(read).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn files(machine: &Scratch) {
    machine.write("a.text", "first");
    machine.write("b.text", "use c.md");
    machine.write("c.md", "included");
}

#[test]
fn a_second_machine_compiles_nothing() {
    let (cache, first, second) = (Scratch::new("warm"), Scratch::new("one"), Scratch::new("two"));
    files(&first);
    files(&second);
    let (stats, compiled) = first.compile(&cache);
    assert_eq!((stats.hits, stats.misses, stats.stored, compiled), (0, 2, 2, 2));
    let (stats, compiled) = second.compile(&cache);
    assert_eq!((stats.hits, stats.misses, stats.stored, compiled), (2, 0, 0, 0));
    assert_eq!(second.data(), first.data());
    // Nothing has changed: the cache is not asked.
    let (stats, compiled) = second.compile(&cache);
    assert_eq!((stats.misses, compiled), (0, 0));
}

#[test]
fn the_compile_does_not_read_the_sources_again() {
    let (cache, first, second) = (Scratch::new("stamp"), Scratch::new("s1"), Scratch::new("s2"));
    files(&first);
    files(&second);
    first.compile(&cache);
    // A file that was just written could change again without a new time.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let target = CompileTarget {
        root: &second.0,
        data: second.0.join(".engine/data/linux"),
        kinds: ResourceKinds(KINDS),
        source_platform: "linux",
        release: false,
        exclude: &[],
        threads: 1,
    };
    fs::create_dir_all(&target.data).unwrap();
    let location = cache.0.to_str().unwrap();
    assert_eq!(SharedCache::open(location).unwrap().fetch(&target).unwrap().hits, 2);
    let index = read_index(&target.data);
    for entry in &index.entries {
        let (source, others) = entry.files.split_first().unwrap();
        assert!(source.identifies_content(), "{source:?}");
        // What the compile of another machine has read is compared with the files here.
        assert!(others.iter().all(|stamp| !stamp.identifies_content()), "{others:?}");
    }
}

#[test]
fn a_changed_file_is_compiled_again() {
    let (cache, first) = (Scratch::new("change"), Scratch::new("change-one"));
    let second = Scratch::new("change-two");
    files(&first);
    files(&second);
    first.compile(&cache);
    // The source is the same, and the included file differs.
    second.write("c.md", "other");
    let (stats, compiled) = second.compile(&cache);
    assert_eq!((stats.hits, compiled), (2, 1));
    assert_eq!(second.data(), ["FIRST", "USE C.MDother"]);
    second.write("a.text", "second");
    let (stats, compiled) = second.compile(&cache);
    assert_eq!((stats.hits, stats.stored, compiled), (0, 1, 1));
    first.write("a.text", "second");
    assert_eq!(first.compile(&cache).1, 0);
}

#[test]
fn derived_resources_are_fetched_too() {
    let cache = Scratch::new("derived");
    let machines = ["derived-1", "derived-2", "derived-3"].map(Scratch::new);
    for machine in &machines {
        machine.write("yard.level", "ground");
        machine.write("ground.text", "grass");
    }
    let (first, compiled) = machines[0].compile(&cache);
    assert_eq!((first.stored, compiled), (3, 3));
    let (second, compiled) = machines[1].compile(&cache);
    assert_eq!((second.hits, second.misses, second.stored, compiled), (3, 0, 0, 0));
    // A file that only the mesh depends on: the mesh that was fetched does not fit, and the new
    // one takes its place.
    machines[1].write("ground.text", "sand and gravel");
    let (changed, compiled) = machines[1].compile(&cache);
    assert_eq!((changed.hits, changed.stored, compiled), (0, 1, 2));
    machines[2].write("ground.text", "sand and gravel");
    let (third, compiled) = machines[2].compile(&cache);
    assert_eq!((third.hits, third.stored, compiled), (3, 1, 1));
    let late = Scratch::new("derived-4");
    late.write("yard.level", "ground");
    late.write("ground.text", "sand and gravel");
    let (late, compiled) = late.compile(&cache);
    assert_eq!((late.hits, late.stored, compiled), (3, 0, 0));
}

#[test]
fn a_poisoned_cache_is_refused() {
    let (cache, first) = (Scratch::new("poison"), Scratch::new("poison-one"));
    files(&first);
    first.compile(&cache);
    let poison = |folder: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        for entry in fs::read_dir(cache.0.join(folder)).unwrap().flatten() {
            let bytes = fs::read(entry.path()).unwrap();
            fs::write(entry.path(), change(bytes)).unwrap();
        }
    };
    let check = |name: &str| {
        let second = Scratch::new(&format!("poison-{name}"));
        files(&second);
        let (stats, compiled) = second.compile(&cache);
        assert_eq!((stats.hits, stats.refused, compiled), (0, 2, 2), "{name}");
        assert_eq!(second.data(), first.data());
        // It is stored again: the next machine finds it.
        let third = Scratch::new(&format!("poison-{name}-third"));
        files(&third);
        let (stats, compiled) = third.compile(&cache);
        assert_eq!((stats.hits, stats.refused, compiled), (2, 0, 0), "{name}");
    };
    poison("cas", &|_| b"EVIL".to_vec());
    check("data");
    poison("ac", &|bytes| bytes[..bytes.len() / 2].to_vec());
    check("cut");
    poison("ac", &|_| vec![0xff; 300]);
    check("noise");
    poison("ac", &|_| b"../../../etc/passwd".repeat(10));
    check("path");
}

#[cfg(unix)]
#[test]
fn fetched_data_is_linked_and_never_changed_directly() {
    use std::os::unix::fs::MetadataExt;
    let (cache, first, second) = (Scratch::new("link"), Scratch::new("l1"), Scratch::new("l2"));
    files(&first);
    files(&second);
    first.compile(&cache);
    assert_eq!(second.compile(&cache).0.hits, 2);
    let cached = || -> Vec<(u64, u64)> {
        let entries = fs::read_dir(cache.0.join("cas")).unwrap().flatten();
        entries.map(|entry| entry.metadata().unwrap()).map(|it| (it.ino(), it.nlink())).collect()
    };
    assert!(cached().iter().all(|(_, links)| *links == 2), "{:?}", cached());
    // A compile replaces the link: the cache keeps its content.
    second.write("a.text", "other");
    assert_eq!(second.compile(&cache).1, 1);
    assert_eq!(second.data()[0], "OTHER");
    assert_eq!(cached().iter().filter(|(_, links)| *links == 1).count(), 2);
    let third = Scratch::new("l3");
    files(&third);
    assert_eq!(third.compile(&cache).0.hits, 2);
    assert_eq!(third.data(), first.data());
    let left = fs::read_dir(third.0.join(".engine/data/linux")).unwrap().flatten();
    let names: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
}

#[cfg(unix)]
#[test]
fn a_cache_with_links_and_folders_is_refused() {
    let (cache, first) = (Scratch::new("odd"), Scratch::new("odd-one"));
    files(&first);
    first.compile(&cache);
    let secret = Scratch::new("odd-secret");
    for (at, entry) in fs::read_dir(cache.0.join("cas")).unwrap().flatten().enumerate() {
        let target = secret.0.join(at.to_string());
        fs::rename(entry.path(), &target).unwrap();
        match at {
            0 => std::os::unix::fs::symlink(&target, entry.path()).unwrap(),
            _ => fs::create_dir(entry.path()).unwrap(),
        }
    }
    let second = Scratch::new("odd-two");
    files(&second);
    let (stats, compiled) = second.compile(&cache);
    assert_eq!((stats.hits, stats.refused, compiled), (0, 2, 2));
    assert_eq!(second.data(), first.data());
}

#[test]
fn a_missing_cache_is_an_error_that_names_it() {
    let message = SharedCache::open("/nowhere/cache").err().unwrap().message;
    assert!(message.starts_with("the shared cache '/nowhere/cache' cannot be read"), "{message}");
}

/// A server with files by path, for some requests. Returns its address.
fn serve(requests: usize, mut files: HashMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/engine", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut left = requests;
        while left > 0 {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut stream = BufReader::new(stream);
            // One connection serves several requests.
            while left > 0 {
                let Some((method, path, body)) = request(&mut stream) else { break };
                left -= 1;
                let (status, body) = match (&method[..], files.get(&path)) {
                    ("GET", Some(found)) => ("200 OK", found.clone()),
                    ("GET", None) => ("404 Not Found", Vec::new()),
                    _ => {
                        files.insert(path, body);
                        ("201 Created", Vec::new())
                    }
                };
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
                let stream = stream.get_mut();
                stream.write_all(&[head.as_bytes(), &body[..]].concat()).unwrap();
            }
        }
    });
    address
}

fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut parts = line.split(' ').map(str::to_string);
    let (method, path) = (parts.next()?, parts.next()?);
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).ok()?;
        match header.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((method, path, body))
}

#[test]
fn a_server_is_a_cache_too() {
    let address = serve(100, HashMap::new());
    let (first, second) = (Scratch::new("http-one"), Scratch::new("http-two"));
    files(&first);
    files(&second);
    let (stats, compiled) = first.compile_with(&SharedCache::open(&address).unwrap());
    assert_eq!((stats.hits, stats.misses, stats.stored, compiled), (0, 2, 2, 2));
    let cache = SharedCache::open(&address).unwrap();
    let (stats, compiled) = second.compile_with(&cache);
    assert_eq!((stats.hits, stats.misses, stats.stored, compiled), (2, 0, 0, 0));
    assert_eq!(second.data(), first.data());
    assert_eq!(cache.failure(), None);
}

#[test]
fn a_server_that_does_not_answer_has_nothing() {
    // The port is free again, and nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cache = SharedCache::open(&format!("http://127.0.0.1:{port}")).unwrap();
    let machine = Scratch::new("http-offline");
    files(&machine);
    let (stats, compiled) = machine.compile_with(&cache);
    assert_eq!((stats.hits, stats.misses, stats.stored, compiled), (0, 2, 0, 2));
    let failure = cache.failure().unwrap();
    assert!(failure.starts_with(&format!("http://127.0.0.1:{port}: ")), "{failure}");
    // One that ends in the middle of the work, too.
    let cache = SharedCache::open(&serve(1, HashMap::new())).unwrap();
    let machine = Scratch::new("http-ends");
    files(&machine);
    let (stats, compiled) = machine.compile_with(&cache);
    assert_eq!((stats.hits, stats.misses, compiled), (0, 2, 2));
    assert!(cache.failure().is_some());
}
