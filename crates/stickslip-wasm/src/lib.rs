//! The engine in a browser: requests in JSON, answers in JSON with tables beside.
//!
//! Six functions, no imports: a host writes a request of `n` bytes to [`request`]`(n)`, calls [`answer`], and reads
//! [`text_length`] bytes at [`text`] and [`table_length`] bytes at [`table`]. What can be asked is [`Request`].

mod requests;

use std::cell::RefCell;

pub use requests::{Answer, Request, respond};

thread_local! {
    /// The request.
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The answer.
    static OUTPUT: RefCell<Answer> = RefCell::new(Answer::default());
}

/// Makes room for a request of so many bytes; returns where it goes.
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Answers the request.
#[unsafe(no_mangle)]
pub extern "C" fn answer() {
    let answer = INPUT.with_borrow(|input| respond(input));
    OUTPUT.with_borrow_mut(|output| *output = answer);
}

/// Where the text of the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    OUTPUT.with_borrow(|output| output.text.as_ptr())
}

/// Bytes of the text.
#[unsafe(no_mangle)]
pub extern "C" fn text_length() -> usize {
    OUTPUT.with_borrow(|output| output.text.len())
}

/// Where the tables of the answer are.
#[unsafe(no_mangle)]
pub extern "C" fn table() -> *const u8 {
    OUTPUT.with_borrow(|output| output.table.as_ptr())
}

/// Bytes of the tables.
#[unsafe(no_mangle)]
pub extern "C" fn table_length() -> usize {
    OUTPUT.with_borrow(|output| output.table.len())
}
