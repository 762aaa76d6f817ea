//! Fuzz targets for input other than resources: requests to the broker, the files of remote tools,
//! pad mappings, fonts for `engine font`.

use super::{Target, scratch};
use engine::platform::AxisRange;
use engine::system::input::pads::{DeviceCodes, MappingDatabase, rules_of};
use engine::system::remote::endpoint_file::EndpointFile;
use engine::system::remote::stable_address;
use engine::system::text::bmfont;
use engine::system::text::sdf_converter::{GrayImage, convert};
use std::fs;

pub fn targets() -> Vec<Target> {
    let folder = scratch("session");
    let session = move |bytes: &[u8]| {
        let path = engine::system::remote::endpoint_file::path(&folder);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(path, bytes).expect("a scratch file can be written");
        if let Ok(session) = EndpointFile::read(&folder) {
            let _ = session.address();
        }
    };
    let folder = scratch("tool_addresses");
    let tool_addresses = move |bytes: &[u8]| {
        let file = folder.join(stable_address::FILE);
        fs::write(file, bytes).expect("a scratch file can be written");
        if let Ok(addresses) = stable_address::read(&folder) {
            stable_address::write(&folder, &addresses).expect("a scratch file can be written");
            assert_eq!(stable_address::read(&folder), Ok(addresses));
        }
    };
    vec![
        #[cfg(target_os = "linux")]
        Target::new("broker.requests", 1 << 10, broker::ask()),
        Target::new("file.session", 512, session),
        Target::new("file.tool_addresses", 512, tool_addresses),
        Target::new("file.large_font", 4 << 10, large_font),
        Target::new("text.pads", 2 << 10, pads),
    ]
}

/// Reads a font for `engine font`, with white pages of the size that it names, if that is small.
fn large_font(bytes: &[u8]) {
    const PAGE_TEXELS_MAX: f32 = 65_536.0;
    let Ok(font) = bmfont::read(bytes, "x.fnt") else { return };
    let _ = font.to_xml();
    let (width, height) = (font.page_width, font.page_height);
    if font.pages.len() <= 4 && width * height <= PAGE_TEXELS_MAX {
        let (width, height) = (width as usize, height as usize);
        let page = || GrayImage { width, height, bytes: vec![255; width * height] };
        let pages: Vec<_> = font.pages.iter().map(|_| page()).collect();
        if let Ok((font, _)) = convert(&font, &pages, 8, 4) {
            bmfont::read(font.to_xml().as_bytes(), "y.fnt").expect("what was written is read");
        }
    }
}

/// The pad of the seed's line: bus, vendor, product and version.
const PAD: [u16; 4] = [0x0003, 0x045e, 0x028e, 0x0110];

fn pads(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut database = MappingDatabase::default();
    let lines = text.lines().count();
    assert!(database.add(&text).iter().all(|wrong| (1..=lines).contains(wrong)));
    // A pad with all keys and axes, and one with none.
    let range = AxisRange { min: -32768, max: 32767, value: 0 };
    let all = DeviceCodes {
        keys: (0x120..0x140).collect(),
        axes: (0..0x18).map(|axis| (axis, range)).collect(),
    };
    for codes in [all, DeviceCodes::default()] {
        rules_of(&database, PAD, &codes);
    }
}

#[cfg(target_os = "linux")]
mod broker {
    //! Requests to the broker over a socket.

    use super::super::remote::replaced;
    use super::super::scratch;
    use engine::platform::broker::{BrokerDuties, serve_here};
    use engine::platform::browser;
    use std::os::unix::net::UnixDatagram;
    use std::path::{Component, Path, PathBuf};
    use std::time::Duration;

    /// Returns a target that sends each line as a request and reads the reply. FOLDER is replaced
    /// by a scratch folder.
    pub fn ask() -> impl Fn(&[u8]) {
        let folder = scratch("broker/game");
        std::fs::write(folder.join("plain.txt"), "x").expect("a scratch file can be written");
        move |bytes| {
            let duties = BrokerDuties {
                open_address: Some(|address| {
                    browser::check(address).map_err(|error| error.to_string())
                }),
                outputs: vec![folder.join("a.png"), folder.join("nowhere/b.png")],
                appends: Some(folder.clone()),
                sources: Some(folder.clone()),
                drops: true,
                // It would open windows.
                message: false,
            };
            let shown = folder.display().to_string();
            let requests = bytes.split(|byte| *byte == b'\n').filter(|request| !request.is_empty());
            let requests = requests.map(|request| replaced(request, b"FOLDER", shown.as_bytes()));
            let requests: Vec<_> = requests.filter(|request| !names_device(request)).collect();
            serve(duties, &requests);
        }
    }

    fn serve(duties: BrokerDuties, requests: &[Vec<u8>]) {
        let (own, other) = UnixDatagram::pair().expect("there are sockets");
        own.set_read_timeout(Some(POLL_INTERVAL)).expect("sockets wait");
        std::thread::scope(|scope| {
            let served = scope.spawn(|| serve_here(other.into(), duties));
            let mut answer = [0; 8 << 10];
            'requests: for request in requests {
                if own.send(request).is_err() {
                    break;
                }
                for look in 0..POLLS_MAX {
                    match own.recv(&mut answer) {
                        Ok(bytes) => {
                            assert!(bytes > 0, "an answer has a kind");
                            break;
                        }
                        // A request that is too long ends the broker.
                        Err(_) if served.is_finished() => break 'requests,
                        Err(_) => assert!(look + 1 < POLLS_MAX, "the broker does not answer"),
                    }
                }
            }
            // An empty message ends the broker. Sending fails if it has already ended.
            let _ = own.send(&[]);
            assert!(served.join().is_ok(), "the broker panicked");
        });
    }

    /// Maximum number of polls for a reply.
    const POLLS_MAX: usize = 200;
    /// Duration of each poll.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Returns true if a request names a device. Opening a device may have any effect.
    fn names_device(request: &[u8]) -> bool {
        let text = String::from_utf8_lossy(request.get(1..).unwrap_or_default()).into_owned();
        let in_scratch = Path::new(&text).starts_with(scratch("broker"));
        let path: PathBuf = if in_scratch { PathBuf::new() } else { text.into() };
        path.components().any(|part| part == Component::Normal("dev".as_ref()))
    }
}
