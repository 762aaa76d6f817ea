//! Images, for the prelude (lua/pixels/image.lua): pixels of textures and screenshots, textures and
//! files of pixels. The prelude passes pixels as bytes.

use crate::api_row::{ModuleRows, func, module};
use crate::argument::{ByteArgument, Integer, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::{ExpectedResult, ReturnValue, WholeNumber};
use crate::types::{ApiType, ValueShape};
use engine_foundation::{Error, error};
use engine_frame_packet::texture::WrapMode;
use engine_render::RenderedImage;
use engine_runtime::Engine;
use engine_textures::ImageTextureSettings;
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum number of pixels of an image of scripts. The prelude has the same limit.
pub const IMAGE_PIXELS_MAX: u64 = 16_777_216;

pub static CORE: ModuleRows = module(
    "Image",
    "Pixels, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "image_pixels",
            image_pixels,
            &[("name", "")],
            "Returns width, height and pixels of a texture's picture.",
        )
        .public_name("Image.load"),
        func(
            "set_image_texture",
            set_image_texture,
            &[
                ("name", ""),
                ("width", ""),
                ("height", ""),
                ("bytes", ""),
                ("filter", ""),
                ("wrap", ""),
                ("mips", ""),
                ("data", ""),
            ],
            "Makes a texture of pixels, or exchanges the one of that name.",
        )
        .public_name("Image.to_texture"),
        func(
            "save_image",
            save_image,
            &[("name", ""), ("width", ""), ("height", ""), ("bytes", "")],
            "Writes pixels as a PNG.",
        )
        .public_name("Image.save"),
        func("capture_image", capture_image, &[], "Requests a capture of the frame.")
            .public_name("Image.capture"),
        func(
            "captured_image",
            captured_image,
            &[("capture", "")],
            "Returns width, height and pixels of a finished capture.",
        )
        .public_name("Image.captured"),
    ],
);

/// Pixels for the prelude: width, height, and red, green, blue and alpha of each pixel.
pub struct ReturnedPixels(RenderedImage);

/// Pixels, or nil if there are none yet, or nil and a message.
pub struct ExpectedPixels(Option<Result<ReturnedPixels, String>>);

impl ReturnedPixels {
    /// Accepts a picture that the prelude can make an image of.
    fn of(width: u32, height: u32, rgba: Vec<u8>) -> Result<ReturnedPixels, Error> {
        let pixels = u64::from(width) * u64::from(height);
        match pixels <= IMAGE_PIXELS_MAX {
            true => Ok(ReturnedPixels(RenderedImage { width, height, rgba })),
            false => Err(error!(
                "it has {width} x {height} pixels, and an image has {IMAGE_PIXELS_MAX} at most \
                 (IMAGE_PIXELS_MAX)"
            )),
        }
    }
}

impl ReturnValue for ReturnedPixels {
    const TYPES: &'static [ApiType] = &[
        ApiType::new("integer", ValueShape::Number),
        ApiType::new("integer", ValueShape::Number),
        ApiType::new("string", ValueShape::Text),
    ];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        let RenderedImage { width, height, rgba } = self.0;
        // SAFETY: as the caller promised.
        unsafe {
            lua_pushnumber(l, f64::from(width));
            lua_pushnumber(l, f64::from(height));
            lua_pushlstring(l, rgba.as_ptr().cast(), rgba.len());
        }
        Ok(3)
    }
}

impl ReturnValue for ExpectedPixels {
    const TYPES: &'static [ApiType] = &[
        ApiType::new("integer", ValueShape::Number).or_nil(),
        ApiType::new("integer|string", ValueShape::Boxed).or_nil(),
        ApiType::new("string", ValueShape::Text).or_nil(),
    ];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Some(Ok(pixels)) => return pixels.push(l, cx),
                None => lua_pushnil(l),
                Some(Err(message)) => {
                    lua_pushnil(l);
                    return message.push(l, cx).map(|count| count + 1);
                }
            }
        }
        Ok(1)
    }
}

fn image_pixels(engine: &mut Engine, name: TextArgument) -> Result<ReturnedPixels, Error> {
    let name = name.as_str();
    let picture = engine.assets.textures.read_picture(&mut engine.assets.store, name);
    let (width, height, rgba) =
        picture.map_err(|error| error!("argument #1 'name': {}", error.message))?;
    ReturnedPixels::of(width, height, rgba)
        .map_err(|error| error!("argument #1 'name': '{name}': {}", error.message))
}

/// Returns the image of pixels that the prelude passes.
fn image_of(width: Integer, height: Integer, bytes: ByteArgument) -> Result<RenderedImage, Error> {
    let (width, height, rgba) = (width.0 as u32, height.0 as u32, bytes.as_slice());
    let size = u64::from(width) * u64::from(height) * 4;
    match size == rgba.len() as u64 {
        true => Ok(RenderedImage { width, height, rgba: rgba.to_vec() }),
        false => Err(error!("the prelude gives all pixels")),
    }
}

#[expect(clippy::too_many_arguments, reason = "the parameters of a row are those of its call")]
fn set_image_texture(
    engine: &mut Engine,
    name: TextArgument,
    width: Integer,
    height: Integer,
    bytes: ByteArgument,
    filter: Integer,
    wrap: Integer,
    mips: bool,
    data: bool,
) -> Result<(), Error> {
    let image = image_of(width, height, bytes)?;
    let settings = ImageTextureSettings {
        nearest: [None, Some(false), Some(true)][filter.0.clamp(0, 2) as usize],
        wrap: [WrapMode::Clamp, WrapMode::Repeat, WrapMode::Mirror][wrap.0.clamp(0, 2) as usize],
        mips,
        data,
    };
    engine.drawing.set_image_texture(&mut engine.assets, name.as_str(), image, settings)
}

fn save_image(
    engine: &mut Engine,
    name: TextArgument,
    width: Integer,
    height: Integer,
    bytes: ByteArgument,
) -> Result<ExpectedResult<String>, Error> {
    let image = image_of(width, height, bytes)?;
    let file = engine.drawing.save_image(&engine.game, name.as_str(), image)?;
    Ok(ExpectedResult(file.map(|file| file.display().to_string())))
}

fn capture_image(engine: &mut Engine) -> Result<ExpectedResult<WholeNumber>, Error> {
    let number = engine.drawing.capture_image()?;
    Ok(ExpectedResult(number.map(|number| WholeNumber(number as f64))))
}

fn captured_image(engine: &mut Engine, capture: f64) -> Result<ExpectedPixels, Error> {
    let taken = engine.drawing.take_image(capture)?;
    Ok(ExpectedPixels(taken.map(|picture| {
        let RenderedImage { width, height, rgba } = picture?;
        ReturnedPixels::of(width, height, rgba).map_err(|error| error.message)
    })))
}
