//! Web servers with https.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};

use super::service::{Service, npy};

/// The certificates of this machine are trusted, and those in the file that SSL_CERT_FILE names.
#[test]
fn pages_are_read_from_servers_that_prove_who_they_are() {
    let (address, certificate) = serve(npy(&[1.0, 2.0]));
    let service = Service::public();
    let authority = service.here.path().join("authority.pem");
    fs::write(&authority, certificate).expect("a file");
    let pipeline = format!(
        r#"inputs: {{"x": Npy(path: "https://{address}/x.npy", type: "f64[2]")}},
        stages: {{"y": (do: "x + 1")}}, outputs: {{"y": Csv(path: "y.csv", from: "y")}}"#
    );
    let (status, _, stderr) = service.run(&pipeline);
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("the server cannot be reached"), "{stderr}");
    assert!(stderr.contains("certificate"), "{stderr}");
    let mut trusting = service.command("secret", &pipeline);
    let (status, _, stderr) = crate::support::outcome(trusting.env("SSL_CERT_FILE", authority));
    assert_eq!(status, 0, "{stderr}");
    let written = fs::read_to_string(service.here.path().join("y.csv")).expect("a file");
    assert_eq!(written, "2.0\n3.0\n");
}

/// Answers all requests with a page; gives where, and the certificate that says so.
fn serve(page: Vec<u8>) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = rustls::crypto::ring::default_provider();
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a certificate and its key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection");
            let mut connection = ServerConnection::new(config.clone()).expect("a connection");
            let mut stream = Stream::new(&mut connection, &mut socket);
            // The client may not trust the certificate.
            let _ = answer(&mut stream, &page);
        }
    });
    (format!("localhost:{}", address.port()), made.cert.pem())
}

fn answer(
    stream: &mut Stream<'_, ServerConnection, std::net::TcpStream>,
    page: &[u8],
) -> std::io::Result<()> {
    for line in BufReader::new(&mut *stream).lines() {
        if line?.is_empty() {
            break;
        }
    }
    let length = page.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(page)?;
    stream.conn.send_close_notify();
    stream.flush()
}
