//! The fetch of a policy and of its signature, and the task that fetches again and again.

use std::{path::PathBuf, time::Duration};

use tokio::{
    sync::mpsc::{self, error::TrySendError},
    time::sleep,
};

use crate::base::fetch::{self, Client, Reach, Redirects, Request, Response, Settings, Validators};

use super::{
    Address, Document, Failure, KeptCopy, PublicKey,
    document::{MAX_BYTES, Signature},
};

const MAX_SIGNATURE: usize = 1 << 10;

/// The result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The server has another document.
    New(Document),
    /// The server has the document of the last fetch.
    Unchanged,
}

/// A policy on a web server.
#[derive(Debug)]
pub struct Remote {
    address: Address,
    key: Option<PublicKey>,
    pub(crate) copy: KeptCopy,
    client: Client,
    validators: Validators,
    last: Option<Vec<u8>>,
}

impl Remote {
    /// The policy at an address. With a key, it needs a valid signature. `copy` is the file of the last
    /// good one.
    pub fn new(address: Address, key: Option<PublicKey>, copy: PathBuf) -> Result<Self, Failure> {
        let client = Client::verbatim(Settings::new(Reach::Secure, Redirects::Follow));
        let client = client.map_err(Failure::Client)?;
        let copy = KeptCopy::new(copy, address.shown().to_owned(), key);
        Ok(Self { address, key, copy, client, validators: Validators::default(), last: None })
    }

    pub(crate) fn name(&self) -> &str {
        self.address.shown()
    }

    /// Fetches the policy, unless the server says that it is the one of the last fetch.
    ///
    /// # Errors
    /// There is no policy with a valid signature.
    pub async fn fetch(&mut self) -> Result<Fetched, Failure> {
        let response = self.get(self.address.url.as_str(), &self.validators).await;
        let response = response.map_err(refusal)?;
        match (response.status(), &self.last) {
            (200, _) => {}
            (304, Some(_)) => return Ok(Fetched::Unchanged),
            (status, _) => return Err(Failure::Fetch(fetch::Failure::Status(status))),
        }
        if response.is_encoded() {
            return Err(Failure::Encoded);
        }
        let validators = response.validators();
        let bytes = response.body(MAX_BYTES).await.map_err(refusal)?.to_vec();
        let fetched = if self.last.as_ref() == Some(&bytes) {
            Fetched::Unchanged
        } else {
            let signature = self.signature(&bytes).await?;
            let document = Document { bytes, signature };
            self.refuse_older(&document)?;
            self.last = Some(document.bytes.clone());
            Fetched::New(document)
        };
        // Not before: a refused policy may get its signature later.
        self.validators = validators;
        Ok(fetched)
    }

    /// Refuses a signed document that does not follow the last good one: anyone who has an older one can
    /// send it again, signature and all.
    fn refuse_older(&self, document: &Document) -> Result<(), Failure> {
        if self.key.is_none() {
            return Ok(());
        }
        let copy = self.copy.last_good().ok();
        let last = copy.as_ref().and_then(Document::serial).unwrap_or(0);
        let is_same = copy.is_some_and(|copy| copy.bytes == document.bytes);
        match document.serial() {
            Some(found) if found > last || last == 0 || is_same => Ok(()),
            found => Err(Failure::Older { found, last }),
        }
    }

    /// The valid signature of these bytes, if there is a key.
    async fn signature(&self, bytes: &[u8]) -> Result<Option<Signature>, Failure> {
        let Some(key) = &self.key else { return Ok(None) };
        let url = self.address.signature_url();
        let response = self.get(&url, &Validators::default()).await;
        let response = response.map_err(Failure::NoSignature)?;
        match response.status() {
            200 => {}
            status => return Err(Failure::NoSignature(fetch::Failure::Status(status))),
        }
        let file = response.body(MAX_SIGNATURE).await.map_err(Failure::NoSignature)?;
        let signature = Signature::read(&file).ok_or(Failure::UnreadableSignature)?;
        match key.verifies(bytes, &signature) {
            true => Ok(Some(signature)),
            false => Err(Failure::WrongSignature),
        }
    }

    async fn get(&self, url: &str, validators: &Validators) -> Result<Response, fetch::Failure> {
        self.client.get(Request { url, host: None, forwarded: None, validators }).await
    }
}

fn refusal(failure: fetch::Failure) -> Failure {
    match failure {
        fetch::Failure::TooLarge => Failure::TooLarge,
        fetch::Failure::Address => Failure::Insecure,
        other => Failure::Fetch(other),
    }
}

/// The owner's end of the task. The task ends with it.
#[derive(Debug)]
pub struct Follower {
    now: mpsc::Sender<()>,
    answers: mpsc::Receiver<Answer>,
}

/// The result of one fetch of the task.
#[derive(Debug)]
pub struct Answer {
    /// Whether the owner asked for this fetch.
    pub is_asked: bool,
    pub(crate) fetched: Result<Fetched, Failure>,
}

impl Follower {
    /// Starts the task. It fetches after each interval.
    pub fn start(mut remote: Remote, every: Duration) -> Self {
        let (now, mut asked) = mpsc::channel(1);
        let (sender, answers) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let is_asked = tokio::select! {
                    () = sleep(every) => false,
                    asked = asked.recv() => match asked {
                        Some(()) => true,
                        None => return,
                    },
                };
                let fetched = remote.fetch().await;
                if sender.send(Answer { is_asked, fetched }).await.is_err() {
                    return;
                }
            }
        });
        Self { now, answers }
    }

    /// Asks for a fetch now. Its answer comes after those under way; none comes if this is false,
    /// because the task has failed.
    pub fn fetch_now(&self) -> bool {
        // A full channel has a fetch waiting already.
        !matches!(self.now.try_send(()), Err(TrySendError::Closed(())))
    }

    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        self.answers.recv().await
    }
}
