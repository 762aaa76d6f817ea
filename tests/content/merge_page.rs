//! The page on which a person chooses between both sides of a merge, as a browser sees it.

use super::game;
use crate::game_folder::GameFolder;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A command that shows a page and waits, and the address of the page: port and token.
pub struct WaitingPage {
    pub process: Child,
    port: String,
    token: String,
}

impl WaitingPage {
    pub fn start(folder: &GameFolder, arguments: &[&str]) -> WaitingPage {
        let mut command = folder.command(arguments);
        // Without programs, no browser is opened.
        command.env("PATH", "").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the engine starts");
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("http://127.0.0.1:")?.1.to_string()))
            .expect("an address is printed");
        // What follows is read, so that the process can write it.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let address = address.split(' ').next().expect("an address");
        let (port, token) = address.split_once('/').expect("a port and a token");
        WaitingPage { process, port: port.to_string(), token: token.to_string() }
    }

    fn start_merge(folder: &GameFolder) -> WaitingPage {
        for (name, count) in [("base", 1), ("left", 2), ("right", 3)] {
            folder.write(&format!("{name}.level"), format!("count = {count}\nname = \"<b>\"\n"));
        }
        let versions = ["merge", "base.level", "left.level", "right.level"];
        let flags = ["--strategy", "ask", "--out", "merged.level"];
        WaitingPage::start(folder, &[&versions[..], &flags].concat())
    }

    /// Asks for a path below the address of the page.
    pub fn ask(&self, path: &str) -> String {
        self.ask_server(&format!("/{}{path}", self.token))
    }

    fn ask_server(&self, path: &str) -> String {
        let mut stream =
            TcpStream::connect(format!("127.0.0.1:{}", self.port)).expect("it listens");
        let host = format!("Host: 127.0.0.1:{}", self.port);
        write!(stream, "GET {path} HTTP/1.1\r\n{host}\r\n\r\n").expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for WaitingPage {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_page_takes_the_choice_of_a_side() {
    let folder = game("merge-page");
    let mut merge = WaitingPage::start_merge(&folder);
    let page = merge.ask("");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("count (value)"), "{page}");
    assert!(page.contains("<pre>2</pre>") && page.contains("<pre>3</pre>"), "{page}");
    // Nobody without the token can choose.
    assert!(merge.ask_server("/choose?rest=left").starts_with("HTTP/1.1 404"));
    let wrong = merge.ask("/choose?0=up");
    assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
    let taken = merge.ask("/choose?0=left");
    assert!(taken.contains("The choice was taken."), "{taken}");
    assert!(merge.process.wait().expect("it ends").success());
    let merged = fs::read_to_string(folder.join("merged.level")).unwrap();
    assert_eq!(merged, "count = 2\nname = \"<b>\"\n");
}

#[test]
fn a_cancelled_choice_writes_nothing() {
    let folder = game("merge-page-cancelled");
    let mut merge = WaitingPage::start_merge(&folder);
    merge.ask("/cancel");
    assert_eq!(merge.process.wait().expect("it ends").code(), Some(1));
    assert!(!folder.join("merged.level").exists());
}
