//! Objects of buckets. Whose they are, where, and who may read them, the environment says, in the
//! variables that other tools of the service read as well.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::stream::FuturesUnordered;
use haul_ir::location::{Object, Service};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientConfigKey, Error, MultipartUpload, ObjectStore, ObjectStoreExt,
    RetryConfig,
};

use super::save::Save;
use super::{RETRIES, innermost};
use crate::error::IoError;

/// Bytes of a part of an object that is put in parts; a smaller object is put at once.
const PART: u64 = 8 << 20;

/// Most parts that a service takes of an object.
const MOST_PARTS: u64 = 10_000;

/// Parts under way at a time.
const PARTS_AT_ONCE: usize = 4;

/// How long all that one request does may take: as long as the server is not silent.
const NO_LIMIT: &str = "30 days";

/// Buckets that were asked before.
pub(super) struct Buckets {
    patience: Duration,
    open: Mutex<HashMap<(Service, String), Arc<dyn ObjectStore>>>,
}

impl Buckets {
    pub(super) fn new(patience: Duration) -> Self {
        let open = Mutex::default();
        Self { patience, open }
    }

    /// Saves an object.
    ///
    /// # Errors
    /// As of [`super::Remote::fetch`].
    pub(super) async fn fetch(&self, object: &Object, save: &mut Save<'_>) -> Result<(), IoError> {
        let failed = |error: Error| words(object, &error);
        let store = self.store(object)?;
        let got = store.get(&key(object)?).await.map_err(failed)?;
        let size = got.meta.size;
        let saved = save.all(Some(size), got.into_stream(), failed).await;
        saved.map_err(|failure| failure.error)
    }

    /// The keys below a folder, or only those right in it.
    ///
    /// # Errors
    /// As of [`super::Remote::list`].
    pub(super) async fn list(&self, folder: &Object, deep: bool) -> Result<Vec<String>, IoError> {
        let failed = |error: Error| words(folder, &error);
        let store = self.store(folder)?;
        let prefix = Some(key(folder)?);
        let found: Vec<_> = match deep {
            true => store
                .list(prefix.as_ref())
                .try_collect()
                .await
                .map_err(failed)?,
            false => {
                let found = store.list_with_delimiter(prefix.as_ref()).await;
                found.map_err(failed)?.objects
            }
        };
        let keys = found.into_iter().map(|object| object.location.into());
        Ok(keys.collect())
    }

    /// Puts a file. One that is put in parts is in `upload` until all of them are there.
    ///
    /// # Errors
    /// As of [`super::Remote::put`].
    pub(super) async fn put(
        &self,
        object: &Object,
        file: &mut File,
        upload: &mut Option<Box<dyn MultipartUpload>>,
    ) -> Result<(), IoError> {
        let failed = |error: Error| words(object, &error);
        let unread = |error| IoError::new(Path::new(&object.to_string()), error);
        let (store, key) = (self.store(object)?, key(object)?);
        let size = file.metadata().map_err(unread)?.len();
        file.rewind().map_err(unread)?;
        if size <= PART {
            let all = part(file, PART).map_err(unread)?;
            return store.put(&key, all.into()).await.map_err(failed).map(drop);
        }
        let begun = store.put_multipart(&key).await.map_err(failed)?;
        let upload = upload.insert(begun);
        let length = PART.max(size.div_ceil(MOST_PARTS));
        let mut under_way = FuturesUnordered::new();
        loop {
            let part = part(file, length).map_err(unread)?;
            if part.is_empty() {
                break;
            }
            if under_way.len() == PARTS_AT_ONCE {
                under_way.try_next().await.map_err(failed)?;
            }
            under_way.push(upload.put_part(part.into()));
        }
        while under_way.try_next().await.map_err(failed)?.is_some() {}
        upload.complete().await.map_err(failed).map(drop)
    }

    fn store(&self, object: &Object) -> Result<Arc<dyn ObjectStore>, IoError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = (object.service, object.bucket.clone());
        if let Some(store) = open.get(&whose) {
            return Ok(store.clone());
        }
        let store = open_bucket(object.service, &object.bucket, self.patience);
        let store = store.map_err(|error| words(object, &error))?;
        open.insert(whose, store.clone());
        Ok(store)
    }
}

fn open_bucket(
    service: Service,
    bucket: &str,
    patience: Duration,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRIES,
        ..RetryConfig::default()
    };
    let silent = format!("{} ms", patience.as_millis());
    let limits = [
        (ClientConfigKey::ConnectTimeout, silent.as_str()),
        (ClientConfigKey::ReadTimeout, &silent),
        (ClientConfigKey::Timeout, NO_LIMIT),
    ];
    Ok(match service {
        Service::S3 => {
            let builder = limits
                .into_iter()
                .fold(AmazonS3Builder::from_env(), |b, (key, to)| {
                    b.with_config(AmazonS3ConfigKey::Client(key), to)
                });
            Arc::new(builder.with_bucket_name(bucket).with_retry(retry).build()?)
        }
        Service::Gcs => {
            let builder = GoogleCloudStorageBuilder::from_env();
            let builder = limits.into_iter().fold(builder, |b, (key, to)| {
                b.with_config(GoogleConfigKey::Client(key), to)
            });
            Arc::new(builder.with_bucket_name(bucket).with_retry(retry).build()?)
        }
    })
}

fn key(object: &Object) -> Result<Key, IoError> {
    Key::parse(&object.key).map_err(|error| IoError::new(Path::new(&object.to_string()), error))
}

/// The next bytes of a file, at most so many.
fn part(file: &mut File, length: u64) -> std::io::Result<Bytes> {
    let mut part = Vec::new();
    file.take(length).read_to_end(&mut part)?;
    Ok(part.into())
}

/// What the service did not do, and what to do about it.
fn words(object: &Object, error: &Error) -> IoError {
    let (who, place) = match object.service {
        Service::S3 => (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SKIP_SIGNATURE=true for what is public)",
            "AWS_REGION, and AWS_ENDPOINT where it is not Amazon's (AWS_ALLOW_HTTP=true where that \
             has no https)",
        ),
        Service::Gcs => (
            "set GOOGLE_APPLICATION_CREDENTIALS (GOOGLE_SKIP_SIGNATURE=true for what is public)",
            "the name of the bucket, and GOOGLE_BASE_URL where it is not Google's",
        ),
    };
    let failed = |message: String| IoError::new(Path::new(&object.to_string()), message);
    let bucket = &object.bucket;
    match error {
        Error::NotFound { .. } if error.to_string().contains("NoSuchBucket") => {
            failed(format!("there is no bucket `{bucket}` (404)")).help(format!("look at {place}"))
        }
        Error::NotFound { .. } => failed("there is no such object (404)".into())
            .help(format!("look at the key, and at {place}")),
        Error::PermissionDenied { .. } => failed("access is denied (403)".into()).help(who),
        Error::Unauthenticated { .. } => failed("it needs credentials (401)".into()).help(who),
        error => failed(innermost(error)).help(format!("{who}; look at {place}")),
    }
}
