//! The resource `VS_VERSIONINFO`, which Explorer shows as the details of a program.

/// The version and the names of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionInfo {
    pub numbers: [u16; 4],
    pub version: String,
    pub title: String,
    pub author: String,
    /// Name of the executable file.
    pub file: String,
}

impl VersionInfo {
    /// Returns the bytes of the resource.
    pub fn encode(&self) -> Vec<u8> {
        let [major, minor, patch, build] = self.numbers.map(u32::from);
        let (high, low) = (major << 16 | minor, patch << 16 | build);
        // Signature, version of the structure, versions of file and product, all flags valid and
        // none set, Windows NT, application.
        let fixed = [0xfeef_04bd, 0x1_0000, high, low, high, low, 0x3f, 0, 0x4_0004, 1, 0, 0, 0];
        let fixed: Vec<u8> = fixed.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let base = self.file.trim_end_matches(".exe");
        let texts = [
            ("CompanyName", self.author.as_str()),
            ("FileDescription", &self.title),
            ("FileVersion", &self.version),
            ("InternalName", base),
            ("OriginalFilename", &self.file),
            ("ProductName", &self.title),
            ("ProductVersion", &self.version),
        ];
        let texts: Vec<Vec<u8>> = texts
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| {
                let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
                let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                node(name, 1, units.len(), &bytes, &[])
            })
            .collect();
        // English of the United States, in Unicode.
        let table = node("040904b0", 1, 0, &[], &texts);
        let translation = node("Translation", 0, 4, &[0x09, 0x04, 0xb0, 0x04], &[]);
        let children = [
            node("StringFileInfo", 1, 0, &[], &[table]),
            node("VarFileInfo", 1, 0, &[], &[translation]),
        ];
        node("VS_VERSION_INFO", 0, fixed.len(), &fixed, &children)
    }
}

/// Returns a node: lengths, the kind of its value (1 is text), its name, its value and its
/// children, each part at a multiple of 4. The length of texts counts letters.
fn node(name: &str, kind: u16, value_length: usize, value: &[u8], children: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0; 2];
    out.extend((value_length as u16).to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend(name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(value);
    for child in children {
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(child);
    }
    // Texts of settings have at most 1000 bytes, so that the sum fits.
    let length = (out.len() as u16).to_le_bytes();
    out[..2].copy_from_slice(&length);
    out
}
