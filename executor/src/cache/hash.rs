//! Keys, and what makes them: BLAKE3 of all that a result depends on.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = blake3::OUT_LEN;

/// What a thing is known by: the hash of all that it depends on, or of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) [u8; KEY_BYTES]);

/// In hexadecimal digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Key {
    /// The key of values, of which another begins with another `kind`.
    pub(crate) fn of(kind: &str, parts: &dyn Fn(&mut KeyHasher)) -> Self {
        let mut hasher = KeyHasher::default();
        kind.hash(&mut hasher);
        parts(&mut hasher);
        hasher.key()
    }

    /// The key of what is read to its end.
    ///
    /// # Errors
    /// The first of `input`.
    pub(crate) fn of_bytes(input: &mut dyn Read) -> io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        let mut block = vec![0; 1 << 20];
        loop {
            match input.read(&mut block)? {
                0 => return Ok(Self(hasher.finalize().into())),
                bytes => hasher.update(&block[..bytes]),
            };
        }
    }
}

/// Makes a key of values that can be hashed.
#[derive(Default)]
pub(crate) struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    pub(crate) fn key(&self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let bytes = self.key().0;
        u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}

/// Hashes what passes through it.
pub(crate) struct Hashing<T> {
    inner: T,
    hasher: blake3::Hasher,
}

impl<T> Hashing<T> {
    pub(crate) fn new(inner: T) -> Self {
        let hasher = blake3::Hasher::new();
        Self { inner, hasher }
    }

    /// The hash of all that passed so far.
    pub(crate) fn hash(&self) -> Key {
        Key(self.hasher.finalize().into())
    }

    pub(crate) fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: Write> Hashing<T> {
    /// Writes the hash of all that passed so far.
    pub(crate) fn write_hash(&mut self) -> io::Result<()> {
        let hash = self.hash();
        self.write_all(&hash.0)
    }
}

impl<T: Read> Read for Hashing<T> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(out)?;
        self.hasher.update(&out[..bytes]);
        Ok(bytes)
    }
}

impl<T: Write> Write for Hashing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the empty input, from the authors of BLAKE3
    /// (`test_vectors/test_vectors.json`).
    #[test]
    fn keys_are_those_of_blake3() {
        let empty = Key::of_bytes(&mut io::empty()).unwrap();
        let known = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(empty.to_string(), known);
        assert_eq!(Hashing::new(io::empty()).hash(), empty);
    }
}
