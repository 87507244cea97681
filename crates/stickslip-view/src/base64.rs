//! Bytes as text.

const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base 64, padded.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= chunk.len() { sign as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn examples_of_the_standard() {
        // RFC 4648, section 10.
        let words = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (k, word) in words.iter().enumerate() {
            assert_eq!(encode(&b"foobar"[..k]), *word);
        }
        assert_eq!(encode(&[0xfb, 0xff]), "+/8=");
    }
}
