//! What web servers answer, well or badly. The server is a few lines here: what it does wrong is
//! what a well-kept one never does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use haul_executor::{Cancel, IoError, Paths, header};
use haul_ir::format::{File, NPY};
use haul_ir::types::ValueType;

/// A server of this machine, until it is dropped.
struct Server {
    address: String,
    asked: Arc<AtomicUsize>,
}

/// What one request is answered with: the request's path, how often the server was asked before.
type Answer = fn(&mut TcpStream, &str, usize) -> std::io::Result<()>;

impl Server {
    fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, count) = (stream.unwrap(), count.clone());
                thread::spawn(move || {
                    let path = request(&stream);
                    let before = count.fetch_add(1, Ordering::SeqCst);
                    // The client may be gone.
                    let _ = answer(&mut stream, &path, before);
                });
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The path of a request, with its query.
fn request(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.find(String::is_empty);
    first.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn npy() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    let length = (header.len() as u16).to_le_bytes();
    let numbers = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat();
    [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        &numbers,
    ]
    .concat()
}

/// Answers with a status line, and a body of a claimed length.
fn reply(stream: &mut TcpStream, status: &str, length: u64, body: &[u8]) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)
}

fn whole(stream: &mut TcpStream) -> std::io::Result<()> {
    reply(stream, "200 OK", npy().len() as u64, &npy())
}

fn impatient() -> Paths {
    Paths::new(".".into(), Cancel::new()).patient(Duration::from_millis(200))
}

fn peek(url: &str, paths: &Paths) -> Result<ValueType, IoError> {
    header(&File::new(&NPY, url), None, paths)
}

/// What is wrong, without the URL, which every error names.
fn error(url: &str) -> String {
    let error = peek(url, &impatient()).unwrap_err();
    assert_eq!(error.path, url);
    error.message
}

#[test]
fn a_page_is_fetched_once() {
    let server = Server::start(|stream, path, _| match path {
        "/x.npy?version=2" => whole(stream),
        _ => reply(stream, "404 Not Found", 0, b""),
    });
    let (paths, url) = (impatient(), server.url("x.npy?version=2"));
    for _ in 0..3 {
        assert_eq!(peek(&url, &paths).unwrap().to_string(), "f32[2]");
    }
    assert_eq!(server.asked(), 1);
}

#[test]
fn a_page_without_a_length_is_read_to_its_end() {
    let server = Server::start(|stream, _, _| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        )?;
        for part in npy().chunks(10) {
            write!(stream, "{:x}\r\n", part.len())?;
            stream.write_all(part)?;
            stream.write_all(b"\r\n")?;
        }
        stream.write_all(b"0\r\n\r\n")
    });
    assert_eq!(
        peek(&server.url("x.npy"), &impatient())
            .unwrap()
            .to_string(),
        "f32[2]"
    );
}

#[test]
fn what_is_not_there_is_asked_for_once() {
    let server = Server::start(|stream, path, _| match path {
        "/secret.npy" => reply(stream, "403 Forbidden", 0, b""),
        _ => reply(stream, "404 Not Found", 0, b""),
    });
    assert_eq!(
        error(&server.url("x.npy")),
        "the server answers 404 Not Found"
    );
    assert_eq!(
        error(&server.url("secret.npy")),
        "the server answers 403 Forbidden"
    );
    assert_eq!(server.asked(), 2);
}

#[test]
fn what_may_pass_is_asked_for_again() {
    let server = Server::start(|stream, _, before| match before {
        0 => reply(stream, "503 Service Unavailable", 0, b""),
        1 => reply(stream, "200 OK", npy().len() as u64, &npy()[..20]),
        _ => whole(stream),
    });
    assert_eq!(
        peek(&server.url("x.npy"), &impatient())
            .unwrap()
            .to_string(),
        "f32[2]"
    );
    assert_eq!(server.asked(), 3);
}

#[test]
fn a_page_that_is_always_cut_short_is_refused() {
    let server = Server::start(|stream, _, _| reply(stream, "200 OK", 1000, &npy()));
    let message = error(&server.url("x.npy"));
    assert!(message.starts_with("it is cut short"), "{message}");
    assert_eq!(server.asked(), 4);
}

#[test]
fn a_page_that_claims_more_than_the_disk_has_is_refused_at_once() {
    let server = Server::start(|stream, _, _| reply(stream, "200 OK", 1 << 60, &npy()));
    let message = error(&server.url("x.npy"));
    assert!(message.contains("there is room for"), "{message}");
    assert_eq!(server.asked(), 1);
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Server::start(|stream, path, _| {
        if path == "/begun.npy" {
            reply(stream, "200 OK", npy().len() as u64, &npy()[..20])?;
        }
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    assert_eq!(error(&server.url("x.npy")), "the server is silent");
    assert_eq!(error(&server.url("begun.npy")), "the server is silent");
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x.npy", listener.local_addr().unwrap());
    drop(listener);
    let message = error(&url);
    assert!(
        message.starts_with("the server cannot be reached"),
        "{message}"
    );
}

/// An answer in the clear must not send haul to another server that only this machine reaches.
#[test]
fn redirects_in_the_clear_stay_on_their_server() {
    let inside = Server::start(|stream, _, _| whole(stream));
    let server = Server::start(|stream, path, _| {
        let to = match path {
            "/here.npy" => "/x.npy".to_owned(),
            "/round.npy" => "/round.npy".to_owned(),
            "/x.npy" => return whole(stream),
            other => format!("http://127.0.0.1:{}/x.npy", &other[1..]),
        };
        write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n"
        )?;
        stream.write_all(b"Connection: close\r\n\r\n")
    });
    assert_eq!(
        peek(&server.url("here.npy"), &impatient())
            .unwrap()
            .to_string(),
        "f32[2]"
    );
    let message = error(&server.url("round.npy"));
    assert!(
        message.contains("redirects more than 10 times"),
        "{message}"
    );
    let port = inside.address.rsplit(':').next().unwrap();
    let message = error(&server.url(port));
    assert!(
        message.contains("another server without https"),
        "{message}"
    );
    assert_eq!(inside.asked(), 0);
}

#[test]
fn stopping_ends_a_fetch_and_leaves_no_file() {
    let server = Server::start(|stream, _, _| {
        reply(stream, "200 OK", 1 << 20, &[0; 1000])?;
        stream.read_exact(&mut [0])
    });
    let cancel = Cancel::new();
    let (begun, is_begun) = mpsc::channel();
    let paths = Paths::new(".".into(), cancel.clone());
    let paths = paths.telling(move |url, bytes| begun.send((url.to_owned(), bytes)).unwrap());
    let url = server.url("stopped-in-the-middle.npy");
    let reader = thread::spawn({
        let url = url.clone();
        move || peek(&url, &paths)
    });
    assert_eq!(is_begun.recv().unwrap(), (url, Some(1 << 20)));
    cancel.cancel();
    assert_eq!(
        reader.join().unwrap().unwrap_err().message,
        "the run is stopped"
    );
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap_or_default());
    let left: Vec<_> = names
        .filter(|name| name.contains("stopped-in-the-middle"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
