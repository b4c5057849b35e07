//! A firmware's log, readable: frames of defmt in, lines out.
//!
//! A frame holds numbers; the words stand in the image, which is why it is needed to read them.

use defmt_decoder::{DecodeError, StreamDecoder, Table};
use std::error::Error;

/// The words of an image.
pub struct Log(Table);

impl Log {
    /// The words of this image.
    ///
    /// # Errors
    /// When it is not an image, or logs nothing with defmt.
    pub fn of(image: &[u8]) -> Result<Self, Box<dyn Error>> {
        Ok(Self(Table::parse(image)?.ok_or("the image logs nothing with defmt")?))
    }

    /// Reads from the start of the firmware, or from anywhere later.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader(self.0.new_stream_decoder())
    }
}

/// Reads a log as it comes.
pub struct Reader<'l>(Box<dyn StreamDecoder + Send + Sync + 'l>);

impl Reader<'_> {
    /// The lines that have ended with these bytes. What is not a frame, as when a reset has cut one, is a line of `?`.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<String> {
        self.0.received(bytes);
        let mut lines = vec![];
        loop {
            match self.0.decode() {
                Ok(frame) => {
                    let level = frame.level().map_or("", |level| level.as_str()).to_uppercase();
                    lines.push(format!("{level:<5} {}", frame.display_message()));
                }
                Err(DecodeError::Malformed) => lines.push("?".to_owned()),
                Err(DecodeError::UnexpectedEof) => return lines,
            }
        }
    }
}
