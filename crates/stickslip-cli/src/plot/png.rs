//! A picture as a PNG file.

use super::raster::Image;

/// Encodes the picture: eight bits per colour, no transparency.
pub fn png(image: &Image) -> Vec<u8> {
    let stride = 3 * image.width;
    // Each line holds its difference from the line above, which compresses drawings well.
    let mut lines = Vec::with_capacity((stride + 1) * image.height);
    for y in 0..image.height {
        let line = &image.pixels[y * stride..(y + 1) * stride];
        lines.push(2);
        if y == 0 {
            lines.extend_from_slice(line);
        } else {
            let above = &image.pixels[(y - 1) * stride..y * stride];
            lines.extend(line.iter().zip(above).map(|(a, b)| a.wrapping_sub(*b)));
        }
    }
    let mut header = Vec::new();
    header.extend((image.width as u32).to_be_bytes());
    header.extend((image.height as u32).to_be_bytes());
    // Eight bits, red-green-blue, deflate, filters per line, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(b"IHDR", &header, &mut out);
    let data = miniz_oxide::deflate::compress_to_vec_zlib(&lines, 6);
    chunk(b"IDAT", &data, &mut out);
    chunk(b"IEND", &[], &mut out);
    out
}

fn chunk(kind: &[u8; 4], data: &[u8], out: &mut Vec<u8>) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(data);
    let check = crc32(&out[start..]);
    out.extend(check.to_be_bytes());
}

/// Checksum of a chunk (polynomial of ISO 3309).
fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0u32; 256];
    for (n, entry) in table.iter_mut().enumerate() {
        let mut c = n as u32;
        for _ in 0..8 {
            c = if c & 1 == 1 {
                0xedb8_8320 ^ (c >> 1)
            } else {
                c >> 1
            };
        }
        *entry = c;
    }
    let fold = |c: u32, b: &u8| table[((c ^ u32::from(*b)) & 255) as usize] ^ (c >> 8);
    !bytes.iter().fold(!0, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_known_text() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn the_lines_can_be_read_back() {
        let image = Image {
            width: 2,
            height: 2,
            pixels: vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 0, 1],
        };
        let bytes = png(&image);
        let start = bytes.windows(4).position(|w| w == b"IDAT").unwrap() + 4;
        let lines = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes[start..]).unwrap();
        assert_eq!(&lines[..7], [2, 1, 2, 3, 4, 5, 6]);
        assert_eq!(&lines[7..], [2, 6, 6, 6, 246, 251, 251]);
    }
}
