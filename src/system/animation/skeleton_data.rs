//! Compiled form of a skeleton, as a part of other compiled data.

use super::skeleton::{BONES_MAX, BoneTransform, Skeleton};
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::{Error, Quat, Vec3, error};

/// Stored in place of the parent of a root.
const NO_PARENT: u32 = u32::MAX;

impl Skeleton {
    /// Appends the compiled form.
    pub fn write(&self, writer: &mut BlobWriter) {
        let bones: Vec<usize> = (0..self.bone_count()).collect();
        writer.list(&bones, |writer, bone| {
            writer.text(&self.names()[*bone]);
            writer.u32(self.parents()[*bone].map_or(NO_PARENT, u32::from));
            let BoneTransform { position, rotation, scale } = self.rest()[*bone];
            let numbers = position.to_array().into_iter().chain(rotation.to_array());
            numbers.chain(scale.to_array()).for_each(|number| writer.u32(number.to_bits()));
        });
    }

    /// Reads the compiled form. The bits of the numbers are those that were written.
    ///
    /// # Errors
    /// Fails if a number, a parent or the number of bones is not valid.
    pub fn read(reader: &mut BlobReader) -> Result<Skeleton, Error> {
        let bones = reader.list_at_most((BONES_MAX, "BONES_MAX"), |reader| {
            let name = reader.text()?.to_string();
            let parent = match reader.u32()? {
                NO_PARENT => None,
                parent => {
                    Some(u16::try_from(parent).map_err(|_| error!("bone '{name}' has no parent"))?)
                }
            };
            let mut numbers = [0.0; 10];
            for number in &mut numbers {
                *number = reader.finite()?;
            }
            let [px, py, pz, x, y, z, w, sx, sy, sz] = numbers;
            let rest = BoneTransform {
                position: Vec3::new(px, py, pz),
                rotation: Quat::from_xyzw(x, y, z, w),
                scale: Vec3::new(sx, sy, sz),
            };
            if !(0.99..1.01).contains(&rest.rotation.length_squared()) {
                return Err(error!("bone '{name}' has a rotation that is not valid"));
            }
            Ok((name, parent, rest))
        })?;
        let rest = bones.iter().map(|(_, _, rest)| *rest).collect();
        Ok(Skeleton::new(bones)?.with_rest(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_is_read_with_the_same_bits() {
        let rest = BoneTransform {
            position: Vec3::new(0.1, -2.0, 3e-7),
            rotation: Quat::from_xyzw(0.1, 0.2, 0.3, 0.9),
            scale: Vec3::new(1.0, 0.0, -2.0),
        };
        let bone = |name: &str, parent| (name.to_string(), parent, rest);
        let skeleton = Skeleton::new(vec![bone("hip", None), bone("head", Some(0))]).unwrap();
        let mut writer = BlobWriter::default();
        skeleton.write(&mut writer);
        let bytes = writer.finish();
        assert_eq!(Skeleton::read(&mut BlobReader::new(&bytes)).unwrap(), skeleton);
        for cut in 0..bytes.len() {
            assert!(Skeleton::read(&mut BlobReader::new(&bytes[..cut])).is_err(), "{cut}");
        }
    }
}
