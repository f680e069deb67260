//! Arrays in files, read apart from the code under test.

use std::fs;
use std::path::Path;

/// The numbers of an array file in row-major order.
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<f64>,
}

/// Reads a `.npy`, `.csv` (with a row of names) or `.png` file.
pub(crate) fn read_array(path: &Path) -> Array {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => npy(&bytes),
        Some("csv") => csv(&bytes),
        Some("png") => png(&bytes),
        other => panic!("no reader for {other:?}"),
    }
}

/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
fn npy(bytes: &[u8]) -> Array {
    assert_eq!(&bytes[..7], b"\x93NUMPY\x01", "version 1");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..end]).expect("an ASCII header");
    assert!(header.contains("'fortran_order': False"), "{header}");
    let between = |from: &str, to: &str| {
        let rest = header.split_once(from).expect("a header of NumPy").1;
        rest.split_once(to).expect("a header of NumPy").0
    };
    let sizes = between("'shape': (", ")").split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty());
    let shape = sizes.map(|size| size.parse().expect("a size")).collect();
    macro_rules! elements {
        ($type:ty) => {{
            let chunks = bytes[end..].chunks_exact(size_of::<$type>());
            chunks
                .map(|chunk| <$type>::from_le_bytes(chunk.try_into().expect("a chunk")) as f64)
                .collect()
        }};
    }
    let elements = match between("'descr': '", "'") {
        "<f4" => elements!(f32),
        "<f8" => elements!(f64),
        "<i8" => elements!(i64),
        "<i4" => elements!(i32),
        "<u2" => elements!(u16),
        "|u1" | "|b1" => elements!(u8),
        other => panic!("no reader for {other}"),
    };
    Array { shape, elements }
}

fn csv(bytes: &[u8]) -> Array {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let mut lines = text.lines();
    let columns = lines.next().expect("a row of names").split(',').count();
    let cells = lines.flat_map(|line| line.split(','));
    let elements: Vec<f64> = cells.map(|cell| cell.parse().expect("a number")).collect();
    Array {
        shape: vec![elements.len() / columns, columns],
        elements,
    }
}

fn png(bytes: &[u8]) -> Array {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size that fits")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    let (height, width) = (info.height as usize, info.width as usize);
    let shape = match info.color_type.samples() {
        1 => vec![height, width],
        samples => vec![height, width, samples],
    };
    Array {
        shape,
        elements: pixels.into_iter().map(f64::from).collect(),
    }
}
