//! Tokens of an expression, with the bytes they cover.

use std::ops::Range;

use super::error::{ExpressionError, Mistake};

/// Kind of a token. Names keep their text in the source, found again through the span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Name,
    Plus,
    Minus,
    Times,
    Over,
    Caret,
    Open,
    Close,
    Comma,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Splits `text`; the last token is always [`Kind::End`]. Characters that start no token are
/// reported and skipped, so that all of them are found at once.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<ExpressionError>) {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut errors = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'0'..=b'9' | b'.' => {
                at = number_end(bytes, at);
                match text[start..at].parse::<f64>() {
                    Ok(value) if value.is_finite() => Kind::Number(value),
                    _ => {
                        let text = text[start..at].to_owned();
                        errors.push(ExpressionError {
                            span: start..at,
                            mistake: Mistake::BadNumber { text },
                        });
                        // A value stands here for the parser, so that it finds no second mistake.
                        Kind::Number(f64::NAN)
                    }
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = name_end(bytes, at);
                match &text[start..at] {
                    "and" => Kind::And,
                    "or" => Kind::Or,
                    "not" => Kind::Not,
                    _ => Kind::Name,
                }
            }
            _ => {
                let (kind, length) = symbol(&bytes[at..]);
                if let Some(kind) = kind {
                    at += length;
                    kind
                } else {
                    // The text is valid UTF-8 and `at` is on a character boundary.
                    let character = text[at..].chars().next().unwrap_or('\u{fffd}');
                    at += character.len_utf8();
                    errors.push(ExpressionError {
                        span: start..at,
                        mistake: Mistake::UnexpectedCharacter { character },
                    });
                    continue;
                }
            }
        };
        tokens.push(Token {
            kind,
            span: start..at,
        });
    }
    tokens.push(Token {
        kind: Kind::End,
        span: text.len()..text.len(),
    });
    (tokens, errors)
}

fn symbol(bytes: &[u8]) -> (Option<Kind>, usize) {
    match bytes {
        [b'*', b'*', ..] => (Some(Kind::Caret), 2),
        [b'<', b'=', ..] => (Some(Kind::LessEqual), 2),
        [b'>', b'=', ..] => (Some(Kind::GreaterEqual), 2),
        [b'=', b'=', ..] => (Some(Kind::Equal), 2),
        [b'!', b'=', ..] => (Some(Kind::NotEqual), 2),
        [b'+', ..] => (Some(Kind::Plus), 1),
        [b'-', ..] => (Some(Kind::Minus), 1),
        [b'*', ..] => (Some(Kind::Times), 1),
        [b'/', ..] => (Some(Kind::Over), 1),
        [b'^', ..] => (Some(Kind::Caret), 1),
        [b'(', ..] => (Some(Kind::Open), 1),
        [b')', ..] => (Some(Kind::Close), 1),
        [b',', ..] => (Some(Kind::Comma), 1),
        [b'<', ..] => (Some(Kind::Less), 1),
        [b'>', ..] => (Some(Kind::Greater), 1),
        _ => (None, 0),
    }
}

/// End of a number: digits, point, exponent. Everything that could belong to it is swallowed, so
/// that `1.2.3` is one bad number and not two good ones.
fn number_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        let exponent_sign = matches!(bytes[at], b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let exponent = matches!(bytes[at], b'e' | b'E')
            && match bytes.get(at + 1) {
                Some(b'+' | b'-') => bytes.get(at + 2).is_some_and(u8::is_ascii_digit),
                next => next.is_some_and(u8::is_ascii_digit),
            };
        if bytes[at].is_ascii_digit() || bytes[at] == b'.' || exponent || exponent_sign {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// End of a name: letters, digits, underscores, and one closing prime for a velocity.
fn name_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
        at += 1;
    }
    if at < bytes.len() && bytes[at] == b'\'' {
        at += 1;
    }
    at
}
