//! Resources of executables for Windows: writes an icon, a version and a manifest into a PE file,
//! and makes it a program without a console. The resources are a new section at the end of the
//! image; other resources are kept, and a signature, which the change makes invalid, is removed.
//!
//! Source: Microsoft's "PE Format", ".rsrc Section", and the documentation of `VS_VERSIONINFO`.

mod tree;
mod version_info;

pub use version_info::VersionInfo;

use engine_foundation::{Error, error};
use engine_resource::executable_file::SECTIONS_MAX;
use tree::{Resource, ResourceId};

const ICON: u32 = 3;
const GROUP_ICON: u32 = 14;
const VERSION: u32 = 16;
const MANIFEST: u32 = 24;
/// English of the United States, as for programs without translated resources.
const LANGUAGE: u32 = 0x409;
/// The subsystem of programs without a console.
const GUI: u16 = 2;
/// Indexes in the table of directories.
const RESOURCES_INDEX: usize = 2;
const SIGNATURE_INDEX: usize = 4;
/// Maximum alignment of sections; 4096 is usual.
const ALIGNMENT_MAX: u32 = 1 << 20;

/// The manifest of executables without one: the program needs no rights of an administrator, and it
/// knows long paths. The window system sets the awareness of scaling itself.
const MANIFEST_TEXT: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <trustInfo xmlns="urn:schemas-microsoft-com:asm.v3"><security><requestedPrivileges>
    <requestedExecutionLevel level="asInvoker" uiAccess="false"/>
  </requestedPrivileges></security></trustInfo>
  <compatibility xmlns="urn:schemas-microsoft-com:compatibility.v1"><application>
    <supportedOS Id="{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}"/>
  </application></compatibility>
  <application xmlns="urn:schemas-microsoft-com:asm.v3"><windowsSettings>
    <longPathAware xmlns="http://schemas.microsoft.com/SMI/2016/WindowsSettings"
    >true</longPathAware>
  </windowsSettings></application>
</assembly>
"#;

/// Resources to write.
pub struct WindowsResources<'a> {
    /// Pictures of the icon, with their widths. No icon if it is empty.
    pub icon: &'a [(u32, Vec<u8>)],
    pub version: &'a VersionInfo,
}

/// Returns the executable with resources, as a program without a console.
///
/// # Errors
/// Returns an error if the file is no PE file with 64 bits, if it is damaged, or if its headers
/// have no room for another section.
pub fn write(executable: &[u8], resources: &WindowsResources) -> Result<Vec<u8>, Error> {
    let mut file = PeFile { bytes: executable.to_vec(), optional: 0, sections: 0..0 };
    file.parse()?;
    file.remove_signature()?;
    let old = file.resources()?;
    let has_manifest = old.iter().any(|resource| resource.kind == ResourceId::Number(MANIFEST));
    let replaced = [ICON, GROUP_ICON, VERSION].map(ResourceId::Number);
    let mut all: Vec<Resource> =
        old.into_iter().filter(|resource| !replaced.contains(&resource.kind)).collect();
    let mut add = |kind: u32, name: u32, bytes: Vec<u8>| {
        let [kind, name, language] = [kind, name, LANGUAGE].map(ResourceId::Number);
        all.push(Resource { kind, name, language, bytes });
    };
    for (at, (_, picture)) in resources.icon.iter().enumerate() {
        add(ICON, at as u32 + 1, picture.clone());
    }
    if !resources.icon.is_empty() {
        add(GROUP_ICON, 1, icon_group(resources.icon));
    }
    add(VERSION, 1, resources.version.encode());
    if !has_manifest {
        add(MANIFEST, 1, MANIFEST_TEXT.as_bytes().to_vec());
    }
    file.append_section(all)?;
    file.set_u16(file.optional + 68, GUI);
    // Only drivers are checked, and tools that sign compute it.
    file.set_u32(file.optional + 64, 0);
    Ok(file.bytes)
}

/// Returns the list of an icon's pictures.
fn icon_group(icon: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0, 0, 1, 0];
    out.extend((icon.len() as u16).to_le_bytes());
    for (at, (side, picture)) in icon.iter().enumerate() {
        // 256 is written as 0.
        let side = *side as u8;
        out.extend([side, side, 0, 0, 1, 0, 32, 0]);
        out.extend((picture.len() as u32).to_le_bytes());
        out.extend((at as u16 + 1).to_le_bytes());
    }
    out
}

/// An executable file, with the locations of its headers.
struct PeFile {
    bytes: Vec<u8>,
    /// Offset of the optional header.
    optional: usize,
    /// Range of the table of sections.
    sections: std::ops::Range<usize>,
}

/// A section, as its row in the table says.
struct Section {
    address: u32,
    virtual_bytes: u32,
    offset: u32,
    file_bytes: u32,
}

fn damaged() -> Error {
    error!("its headers are damaged: build or download the engine again")
}

impl PeFile {
    fn u16(&self, at: usize) -> Result<u16, Error> {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u16::from_le_bytes(*bytes)).ok_or_else(damaged)
    }

    fn u32(&self, at: usize) -> Result<u32, Error> {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(damaged)
    }

    fn set_u16(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn set_u32(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn parse(&mut self) -> Result<(), Error> {
        let header = self.u32(0x3c)? as usize;
        // A header within the first 64 bytes would overlap the one that refers to it.
        let mark = self.bytes.get(header..header.saturating_add(4));
        if header < 64 || mark != Some(b"PE\0\0") {
            return Err(damaged());
        }
        let (sections, optional_bytes) =
            (self.u16(header + 6)?, usize::from(self.u16(header + 20)?));
        self.optional = header + 24;
        if self.u16(self.optional)? != 0x20b {
            return Err(error!("it is a program for 32 bits: use an engine for x86_64"));
        }
        // Sixteen directories follow 112 bytes.
        if optional_bytes < 240 || self.u32(self.optional + 108)? < 16 || sections > SECTIONS_MAX {
            return Err(damaged());
        }
        let start = self.optional + optional_bytes;
        self.sections = start..start + usize::from(sections) * 40;
        self.bytes.get(self.sections.clone()).map(|_| ()).ok_or_else(damaged)
    }

    fn directory(&self, index: usize) -> usize {
        self.optional + 112 + index * 8
    }

    fn remove_signature(&mut self) -> Result<(), Error> {
        let directory = self.directory(SIGNATURE_INDEX);
        let (start, bytes) = (self.u32(directory)? as usize, self.u32(directory + 4)? as usize);
        if start > 0 && start.checked_add(bytes) == Some(self.bytes.len()) {
            self.bytes.truncate(start);
        }
        self.set_u32(directory, 0);
        self.set_u32(directory + 4, 0);
        Ok(())
    }

    fn section_rows(&self) -> Result<Vec<Section>, Error> {
        let row = |at: usize| {
            let virtual_bytes = self.u32(at + 8)?;
            let (address, file_bytes) = (self.u32(at + 12)?, self.u32(at + 16)?);
            Ok(Section { address, virtual_bytes, offset: self.u32(at + 20)?, file_bytes })
        };
        self.sections.clone().step_by(40).map(row).collect()
    }

    /// Returns the resources that the file has already.
    fn resources(&self) -> Result<Vec<Resource>, Error> {
        let directory = self.directory(RESOURCES_INDEX);
        let (address, bytes) = (self.u32(directory)?, self.u32(directory + 4)?);
        if address == 0 || bytes == 0 {
            return Ok(Vec::new());
        }
        let sections = self.section_rows()?;
        let section = sections.iter().find(|section| {
            let end = section.address.saturating_add(section.file_bytes);
            (section.address..end).contains(&address)
        });
        let section = section.ok_or_else(damaged)?;
        let (start, length) = (section.offset as usize, section.file_bytes as usize);
        let data = start.checked_add(length).and_then(|end| self.bytes.get(start..end));
        let data = data.ok_or_else(damaged)?;
        tree::read(data, address - section.address, section.address).ok_or_else(damaged)
    }

    fn append_section(&mut self, resources: Vec<Resource>) -> Result<(), Error> {
        let optional = self.optional;
        let (section_alignment, file_alignment) =
            (self.u32(optional + 32)?, self.u32(optional + 36)?);
        let is_valid = |alignment: u32| alignment.is_power_of_two() && alignment <= ALIGNMENT_MAX;
        if !is_valid(section_alignment) || !is_valid(file_alignment) {
            return Err(damaged());
        }
        let rows = self.section_rows()?;
        let row = self.sections.end;
        let headers_end = self.u32(optional + 60)? as usize;
        let first = rows.iter().filter(|row| row.file_bytes > 0).map(|row| row.offset as usize);
        let room = first.min().unwrap_or(headers_end).min(headers_end);
        if row + 40 > room || self.bytes.len() < room {
            return Err(error!(
                "its headers have no room for another section: build it without symbols (`strip`)"
            ));
        }
        let ends = rows.iter().map(|row| row.address.checked_add(row.virtual_bytes));
        let ends: Option<Vec<u32>> = ends.collect();
        let address = ends
            .and_then(|ends| ends.into_iter().max())
            .and_then(|end| end.checked_next_multiple_of(section_alignment))
            .ok_or_else(damaged)?;
        let data = tree::write(resources, address);
        self.bytes.resize(self.bytes.len().next_multiple_of(file_alignment as usize), 0);
        let offset = u32::try_from(self.bytes.len()).map_err(|_| damaged())?;
        let data_bytes = data.len() as u32;
        let file_bytes = data_bytes.next_multiple_of(file_alignment);
        self.bytes.extend(data);
        self.bytes.resize((offset + file_bytes) as usize, 0);
        self.bytes[row..row + 40].fill(0);
        self.bytes[row..row + 5].copy_from_slice(b".rsrc");
        // Initialized data that can be read.
        let fields = [(8, data_bytes), (12, address), (16, file_bytes), (20, offset)];
        for (at, value) in fields.into_iter().chain([(36, 0x4000_0040)]) {
            self.set_u32(row + at, value);
        }
        let header = optional - 24;
        let sections = self.u16(header + 6)? + 1;
        self.set_u16(header + 6, sections);
        let end = address.checked_add(data_bytes);
        let image = end.and_then(|end| end.checked_next_multiple_of(section_alignment));
        self.set_u32(optional + 56, image.ok_or_else(damaged)?);
        let initialized = self.u32(optional + 8)?.wrapping_add(file_bytes);
        self.set_u32(optional + 8, initialized);
        let directory = self.directory(RESOURCES_INDEX);
        self.set_u32(directory, address);
        self.set_u32(directory + 4, data_bytes);
        Ok(())
    }
}

#[cfg(test)]
#[path = "pe_resources/tests.rs"]
pub(crate) mod tests;
