//! Signed parts of packages: writes them into a scratch folder, lets a signing tool copy them, and
//! checks the copies. A package is written only if that succeeded.

use super::archive::{Archive, Content, ENTRY_PATH_BYTES_MAX, find_streams};
use super::installer;
use super::mach_o;
use super::signing::SigningTool;
use super::unpacked;
use engine_foundation::file_access::{self, EntryKind};
use engine_foundation::{Error, error};
use engine_resource::{bundle, executable_file};
use std::io::Read;
use std::path::Path;

/// Maximum number of files of a signed application. Signatures add a few.
const FILES_MAX: usize = 1000;
/// Maximum depth of folders in a signed application.
const FOLDERS_DEEP_MAX: usize = 16;
/// The stream of an installer that has its signature.
const INSTALLER_SIGNATURE: &str = "\u{5}DigitalSignature";

/// Signs a program for Windows. The result is a file in the scratch folder.
///
/// # Errors
/// Returns an error if the tool fails, if its output has no signature, or if the game is no longer
/// found in it.
pub fn sign_program(
    tool: &SigningTool,
    program: Content,
    scratch: &Path,
) -> Result<Content, Error> {
    let (input, output) = (scratch.join("unsigned.exe"), scratch.join("signed.exe"));
    unpacked::write_file(&input, &program)?;
    tool.sign(&input, &output)?;
    let output_error = |reason: String| error!("the signed program cannot be used: {reason}");
    let mut file =
        file_access::open_named(&output).map_err(|reason| output_error(reason.to_string()))?;
    let found = executable_file::inspect(&mut file);
    let found = found.map_err(|reason| output_error(reason.to_string()))?;
    if found.and_then(|found| found.signature).is_none() {
        return Err(output_error("the signing tool put no signature into it".to_string()));
    }
    if !bundle::looks_like_bundle(&output) {
        return Err(output_error("the game is no longer at its end".to_string()));
    }
    let bytes = size(&file).map_err(|reason| output_error(reason.to_string()))?;
    Ok(Content::file(output, bytes))
}

/// Signs an installer for Windows. The result is a file in the scratch folder.
///
/// # Errors
/// Returns an error if the tool fails, or if its output is no installer with a signature.
pub fn sign_installer(
    tool: &SigningTool,
    content: &Content,
    scratch: &Path,
) -> Result<Content, Error> {
    let (input, output) = (scratch.join("unsigned.msi"), scratch.join("signed.msi"));
    unpacked::write_file(&input, content)?;
    tool.sign(&input, &output)?;
    let output_error = |reason: String| error!("the signed installer cannot be used: {reason}");
    let file =
        file_access::open_named(&output).map_err(|reason| output_error(reason.to_string()))?;
    let bytes = size(&file).map_err(|reason| output_error(reason.to_string()))?;
    let signature: Vec<u16> = INSTALLER_SIGNATURE.encode_utf16().collect();
    let found = find_streams(file.take(bytes), [&signature, &installer::pool_stream()]);
    match found.map_err(|reason| output_error(reason.to_string()))? {
        [_, false] => return Err(output_error("it is no installer".to_string())),
        [false, _] => {
            return Err(output_error("the signing tool put no signature into it".to_string()));
        }
        _ => {}
    }
    Ok(Content::file(output, bytes))
}

/// Signs an application for macOS. `folder` is its folder in the archive, with a `/` at its end.
/// The result has the files that the tool wrote.
///
/// # Errors
/// Returns an error if the tool fails, if its output is no folder of files, or if a program in it
/// has no signature.
pub fn sign_application(
    tool: &SigningTool,
    files: &Archive,
    folder: &str,
    scratch: &Path,
) -> Result<Archive, Error> {
    let name = folder.trim_end_matches('/');
    let (unsigned, signed) = (scratch.join("unsigned"), scratch.join("signed"));
    unpacked::write_files(&unsigned, files)?;
    std::fs::create_dir_all(&signed)
        .map_err(|reason| error!("{} cannot be made: {reason}", signed.display()))?;
    tool.sign(&unsigned.join(name), &signed.join(name))?;
    let mut found = Archive::default();
    add_files(&signed, name, 0, &mut found)?;
    check_signatures(&found)?;
    Ok(found)
}

/// Checks that all programs of an application have signatures, for each processor.
fn check_signatures(files: &Archive) -> Result<(), Error> {
    for (path, entry) in files.files().filter(|(_, entry)| entry.executable) {
        let mut bytes = Vec::new();
        entry
            .content
            .write_to(&mut bytes)
            .map_err(|reason| error!("the signed application cannot be used: {reason}"))?;
        let programs = mach_o::programs(&bytes);
        if programs.is_empty() || programs.iter().any(|program| !program.is_signed) {
            return Err(error!(
                "the signed application cannot be used: the signing tool put no signature into \
                 {path}"
            ));
        }
    }
    Ok(())
}

fn add_files(root: &Path, path: &str, depth: usize, found: &mut Archive) -> Result<(), Error> {
    let output_error = |reason: String| error!("the signed application cannot be used: {reason}");
    if depth > FOLDERS_DEEP_MAX {
        let message =
            format!("{path} is deeper than {FOLDERS_DEEP_MAX} folders (FOLDERS_DEEP_MAX)");
        return Err(output_error(message));
    }
    let listing =
        file_access::list(root, path).map_err(|reason| output_error(reason.message(path)))?;
    for entry in listing.entries {
        let name = entry.name.to_str().ok_or_else(|| {
            output_error(format!("a name in {path} is not UTF-8: {:?}", entry.name))
        })?;
        let path = format!("{path}/{name}");
        match entry.kind {
            EntryKind::Folder => add_files(root, &path, depth + 1, found)?,
            EntryKind::File => {
                let file = file_access::open_named(&root.join(&path))
                    .map_err(|reason| output_error(reason.message(&path)))?;
                let bytes = size(&file).map_err(|reason| output_error(reason.to_string()))?;
                let content = Content::file(root.join(&path), bytes);
                if found.files().count() >= FILES_MAX {
                    let message = format!("it has more than {FILES_MAX} files (FILES_MAX)");
                    return Err(output_error(message));
                }
                if path.len() > ENTRY_PATH_BYTES_MAX {
                    let message = format!("the path {path} is too long (ENTRY_PATH_BYTES_MAX)");
                    return Err(output_error(message));
                }
                match path.contains(".app/Contents/MacOS/") {
                    true => found.add_program(path, content),
                    false => found.add(path, content),
                }
            }
            _ => return Err(output_error(format!("{path} is no file and no folder"))),
        }
    }
    Ok(())
}

fn size(file: &std::fs::File) -> std::io::Result<u64> {
    file.metadata().map(|metadata| metadata.len())
}
