//! Where the paths of a pipeline lead: to files, to objects of buckets, to web servers.

use std::fmt;

use percent_encoding::percent_decode_str;

/// What a path may begin with, for help.
const SCHEMES: &str = "write the path of a file, or a URL that begins with `s3://`, `gs://`, \
                       `https://`, `http://` or `file://`";

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file; one that is relative is so to the folder of the pipeline.
    File(String),
    /// An object of a bucket.
    Object(Object),
    /// What a web server answers to this URL.
    Web(String),
}

/// An object of a bucket, or a pattern of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Whose bucket it is.
    pub service: Service,
    /// The bucket.
    pub bucket: String,
    /// The object's name in the bucket, as it is there: nothing in it is an escape.
    pub key: String,
}

/// Who keeps buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Amazon S3, and all that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nowhere {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

impl Location {
    /// Where a path leads. Whatever has no `scheme://` is a file.
    ///
    /// # Errors
    /// The URL is of no known scheme, is not whole, or holds credentials.
    pub fn parse(path: &str) -> Result<Location, Nowhere> {
        let Some((scheme, rest)) = path
            .split_once("://")
            .filter(|(scheme, _)| is_scheme(scheme))
        else {
            return Ok(Location::File(path.to_owned()));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            let message = format!("a {scheme}:// URL must not hold a user or a password");
            let help = "pipelines are shared: credentials come from the environment only, such as \
                        AWS_ACCESS_KEY_ID or GOOGLE_APPLICATION_CREDENTIALS";
            return Err(Nowhere { message, help });
        }
        match scheme {
            "s3" => Object::parse(Service::S3, rest).map(Location::Object),
            "gs" => Object::parse(Service::Gcs, rest).map(Location::Object),
            "http" | "https" if authority.is_empty() => Err(Nowhere {
                message: format!("`{path}` names no server"),
                help: "write `https://server/path`",
            }),
            "http" | "https" => Ok(Location::Web(path.to_owned())),
            "file" => local(rest).ok_or_else(|| Nowhere {
                message: format!("`{path}` names no file of this machine"),
                help: "write `file:///folder/name`, or the path alone",
            }),
            _ => Err(Nowhere {
                message: format!("nothing is read from or written to `{scheme}://`"),
                help: SCHEMES,
            }),
        }
    }

    /// Whether it is on another machine, as far as the path tells.
    pub fn is_remote(path: &str) -> bool {
        !matches!(Location::parse(path), Ok(Location::File(_)))
    }
}

impl Object {
    fn parse(service: Service, rest: &str) -> Result<Object, Nowhere> {
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |part: &str| !matches!(part, "" | "." | "..");
        if bucket.is_empty() || !key.split('/').all(is_plain) {
            return Err(Nowhere {
                message: format!("`{}://{rest}` names no object", service.scheme()),
                help: "write `s3://bucket/key`; no part of the key may be empty, `.` or `..`",
            });
        }
        Ok(Object {
            service,
            bucket: bucket.to_owned(),
            key: key.to_owned(),
        })
    }

    /// Another object of the bucket.
    pub fn sibling(&self, key: &str) -> Object {
        let key = key.to_owned();
        Object {
            key,
            ..self.clone()
        }
    }
}

/// As a URL.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Object {
            service,
            bucket,
            key,
        } = self;
        write!(f, "{}://{bucket}/{key}", service.scheme())
    }
}

impl Service {
    fn scheme(self) -> &'static str {
        match self {
            Service::S3 => "s3",
            Service::Gcs => "gs",
        }
    }
}

fn is_scheme(text: &str) -> bool {
    let is_of_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_of_one)
}

/// The file of a `file://` URL (RFC 8089): of this machine, by its whole path.
fn local(rest: &str) -> Option<Location> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    (path.len() > 1 && path.starts_with('/')).then(|| Location::File(path.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(service: Service, bucket: &str, key: &str) -> Location {
        Location::Object(Object {
            service,
            bucket: bucket.into(),
            key: key.into(),
        })
    }

    #[test]
    fn paths_lead_to_files_objects_and_servers() {
        let file = |path: &str| Location::File(path.into());
        let cases = [
            ("data/x.npy", file("data/x.npy")),
            ("/data/x.npy", file("/data/x.npy")),
            ("C:\\data\\x.npy", file("C:\\data\\x.npy")),
            ("file:///data/a%20b.npy", file("/data/a b.npy")),
            ("file://localhost/x.npy", file("/x.npy")),
            (
                "s3://b/x y/%20.npy",
                object(Service::S3, "b", "x y/%20.npy"),
            ),
            ("gs://b/*.npy", object(Service::Gcs, "b", "*.npy")),
            (
                "http://h:80/x?y=z",
                Location::Web("http://h:80/x?y=z".into()),
            ),
            (
                "https://h/a@b.csv",
                Location::Web("https://h/a@b.csv".into()),
            ),
        ];
        for (path, location) in cases {
            assert_eq!(Location::parse(path), Ok(location), "{path}");
        }
    }

    #[test]
    fn urls_that_lead_nowhere_say_why() {
        let cases = [
            ("ftp://h/x.npy", "ftp://"),
            ("s3://b", "names no object"),
            ("s3:///x.npy", "names no object"),
            ("s3://b/a//x.npy", "names no object"),
            ("s3://b/../c/x.npy", "names no object"),
            ("https:///x.npy", "names no server"),
            ("file://server/x.npy", "names no file"),
            ("file:///", "names no file"),
            ("https://me:secret@h/x.npy", "user or a password"),
            ("s3://key:secret@b/x.npy", "user or a password"),
        ];
        for (path, part) in cases {
            let message = Location::parse(path).unwrap_err().message;
            assert!(message.contains(part), "{path}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
