//! What web servers answer to a request without credentials.

use std::path::Path;
use std::time::Duration;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, Error, StatusCode};

use super::save::{Failure, Save};
use super::{RETRIES, innermost};
use crate::error::IoError;

/// Redirects that are followed for one request.
const MOST_REDIRECTS: usize = 10;

/// Waiting time before the first retry; each later one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Asks web servers.
pub(super) struct Web(Client);

impl Web {
    pub(super) fn new(patience: Duration) -> Result<Self, Error> {
        let client = Client::builder()
            .user_agent(concat!("haul/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(patience)
            .read_timeout(patience)
            .redirect(Policy::custom(redirect))
            .build();
        client.map(Self)
    }

    /// Saves what the server answers.
    ///
    /// # Errors
    /// It answers something else than 200, ends too soon, is silent, or cannot be reached.
    pub(super) async fn fetch(&self, save: &mut Save<'_>) -> Result<(), IoError> {
        let mut pause = FIRST_PAUSE;
        for retries_left in (0..=RETRIES).rev() {
            match self.try_once(save).await {
                Ok(()) => return Ok(()),
                Err(failure) if failure.is_passing && retries_left > 0 => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                    save.restart()?;
                }
                Err(failure) => return Err(failure.error),
            }
        }
        Ok(())
    }

    async fn try_once(&self, save: &mut Save<'_>) -> Result<(), Failure> {
        let url = save.url;
        let answer = self.0.get(url).send().await;
        let answer = answer.map_err(|error| Failure {
            is_passing: error.is_timeout() || error.is_connect(),
            error: broken(url, &error),
        })?;
        let status = answer.status();
        if status != StatusCode::OK {
            return Err(refused(url, status));
        }
        let size = answer.content_length();
        let stream = answer.bytes_stream();
        save.all(size, stream, |error| broken(url, &error)).await
    }
}

/// Follows redirects to what is encrypted, and within a server: whoever answers in the clear, or
/// in the name of another, must not send us on to what only this machine can reach.
fn redirect(attempt: Attempt<'_>) -> Action {
    let Some(from) = attempt.previous().last() else {
        return attempt.follow();
    };
    let to = attempt.url();
    let same_server = from.scheme() == to.scheme()
        && from.host() == to.host()
        && from.port_or_known_default() == to.port_or_known_default();
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error(format!("it redirects more than {MOST_REDIRECTS} times"));
    }
    if to.scheme() == "https" || same_server {
        return attempt.follow();
    }
    let message = format!("it redirects to `{to}`, which is another server without https");
    attempt.error(message)
}

/// Why no answer came, or ended.
fn broken(url: &str, error: &Error) -> IoError {
    let failed = |message: String| IoError::new(Path::new(url), message);
    let cause = innermost(error);
    if error.is_timeout() {
        return failed("the server is silent".into()).help("try again, or look at the server");
    }
    if error.is_connect() {
        let help = "look at the server's name and port, and at HTTPS_PROXY";
        return failed(format!("the server cannot be reached: {cause}")).help(help);
    }
    match error.is_body() || error.is_decode() {
        true => failed(format!("it is cut short: {cause}")),
        false => failed(cause),
    }
}

/// The server answered, but not with what was asked for.
fn refused(url: &str, status: StatusCode) -> Failure {
    let error = IoError::new(Path::new(url), format!("the server answers {status}"));
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Failure::lasting(error.help(
            "web servers are asked without credentials; what is private is read from s3:// or gs://",
        )),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Failure::passing(error),
        _ if status.is_server_error() => Failure::passing(error),
        _ => Failure::lasting(error.help("look at the URL")),
    }
}
