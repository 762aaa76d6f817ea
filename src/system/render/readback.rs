//! Captures: the readback of a texture's pixels from the adapter. Writes no files.

use super::RenderedImage;
use super::device::GpuDevice;

/// A pending readback.
pub struct PendingReadback {
    buffer: wgpu::Buffer,
    width: u32,
    height: u32,
    row: u32,
    format: wgpu::TextureFormat,
}

/// Creates a texture that is drawn onto to be read.
pub fn create_target(
    device: &GpuDevice,
    size: wgpu::Extent3d,
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    device.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("capture"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Encodes the copy of a texture.
pub fn begin(
    device: &GpuDevice,
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
) -> Result<PendingReadback, String> {
    let (width, height) = (texture.width(), texture.height());
    let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.checked(|device| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("capture"),
            size: u64::from(row) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        })
    })?;
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(height),
            },
        },
        wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
    );
    Ok(PendingReadback { buffer, width, height, row, format: texture.format() })
}

/// Blocks until a copy is done, and reads it. `opaque`: true for a screen, whose alpha is not
/// visible.
pub fn end(
    device: &GpuDevice,
    copy: &PendingReadback,
    opaque: bool,
) -> Result<RenderedImage, String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    copy.buffer.map_async(wgpu::MapMode::Read, .., move |done| {
        // There is no receiver if the renderer ended meanwhile.
        let _ = sender.send(done);
    });
    device.wait();
    match receiver.try_recv() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(format!("the picture could not be read: {error}")),
        Err(_) if device.is_hung() => return Err("its frame was not finished".to_string()),
        Err(_) => return Err("the adapter was lost before the picture was read".to_string()),
    }
    let range = copy.buffer.get_mapped_range(..);
    let mapped = range.map_err(|error| format!("the picture could not be read: {error}"))?;
    let mut rgba = Vec::with_capacity(copy.width as usize * copy.height as usize * 4);
    for row in mapped.chunks_exact(copy.row as usize) {
        rgba.extend_from_slice(&row[..copy.width as usize * 4]);
    }
    let blue_first = matches!(
        copy.format,
        wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Bgra8UnormSrgb
    );
    if blue_first {
        rgba.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    if opaque {
        rgba.chunks_exact_mut(4).for_each(|pixel| pixel[3] = 255);
    } else {
        divide(&mut rgba);
    }
    Ok(RenderedImage { width: copy.width, height: copy.height, rgba })
}

/// Converts premultiplied sRGB colors to straight alpha, in linear light.
fn divide(rgba: &mut [u8]) {
    let to_linear: Vec<f32> = (0..=255u8)
        .map(|byte| {
            let value = f32::from(byte) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
        .collect();
    let to_srgb = |value: f32| {
        let low = value <= 0.003_130_8;
        let srgb = if low { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (srgb.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    for pixel in rgba.chunks_exact_mut(4).filter(|pixel| pixel[3] != 255) {
        let alpha = f32::from(pixel[3]) / 255.0;
        for channel in 0..3 {
            let light = to_linear[pixel[channel] as usize];
            pixel[channel] = if alpha > 0.0 { to_srgb(light / alpha) } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_unpremultiplied_in_linear_space() {
        // Half of white's light is the byte 188.
        let mut rgba = vec![188, 188, 0, 128, 10, 20, 30, 255, 9, 9, 9, 0];
        divide(&mut rgba);
        assert_eq!(rgba, [255, 255, 0, 128, 10, 20, 30, 255, 0, 0, 0, 0]);
    }
}
