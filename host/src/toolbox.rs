//! A toolbox: components compiled once, and a fresh instance for every call.

mod builder;

use std::sync::Arc;
use std::time::{Duration, Instant};

use handhold_core::arguments::check_size;
use handhold_core::failure::{Code, Failure};
use handhold_core::types::{Config, ToolCall, ToolDefinition, ToolResult};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::component::{HasSelf, InstancePre, Linker, ResourceAny, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};

pub use self::builder::ToolboxBuilder;
use crate::backend::Backend;
use crate::bindings::exports::handhold::fs::results;
use crate::bindings::exports::handhold::fs::tools::{Guest, GuestIndices};
use crate::bindings::handhold::fs::{reader, writer};
use crate::code_cache;
use crate::error::BuildError;
use crate::state::{CallState, MemoryBound, ResultsBound};
use crate::workspace::{Access, Workspace};

/// How much memory the instance of a call may have unless [`ToolboxBuilder::memory`] says
/// otherwise: 256 MiB. The largest arguments, and the largest file that can be edited, are held a
/// few times.
pub const DEFAULT_MEMORY_BYTES: usize = 256 << 20;

/// How many calls run at once unless [`ToolboxBuilder::concurrent_calls`] says otherwise. Others
/// wait for their turn.
pub const DEFAULT_CONCURRENT_CALLS: u32 = 256;

/// How much longer than a search a whole call may take.
const CALL_GRACE: Duration = Duration::from_secs(15);

/// How many bytes an instance may hand to the host in one call of a function: 128 MiB, more than
/// the largest file that it can write.
const HOSTCALL_BYTES: usize = 128 << 20;

/// How many handles an instance may hold. It holds a toolbox or a result, and a draft.
const MAX_HANDLES: usize = 100;

/// How many bytes of images a result may have besides its text.
const MAX_IMAGE_BYTES: usize = 8 << 20;

/// A compiled component, linked with what its access grants and nothing else.
pub(crate) struct Tools {
    pub(crate) instance: InstancePre<CallState>,
    toolbox: GuestIndices,
    pub(crate) results: results::GuestIndices,
}

impl Tools {
    fn load(
        engine: &Engine,
        bytes: &[u8],
        access: Access,
        cache: Option<&std::path::Path>,
    ) -> Result<Self, BuildError> {
        let component =
            code_cache::component(engine, bytes, cache).map_err(BuildError::component)?;
        let mut linker = Linker::<CallState>::new(engine);
        reader::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)
            .map_err(BuildError::component)?;
        if access == Access::ReadWrite {
            writer::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)
                .map_err(BuildError::component)?;
        }
        let instance = linker.instantiate_pre(&component).map_err(BuildError::component)?;
        let toolbox = GuestIndices::new(&instance).map_err(BuildError::component)?;
        let results = results::GuestIndices::new(&instance).map_err(BuildError::component)?;
        Ok(Self { instance, toolbox, results })
    }
}

/// The tools, ready to be called.
///
/// Every call runs in an instance of its own, so that nothing of one call can be seen by another.
/// A call is bounded in memory, in time, and in what it hands to the host; hitting a bound is a
/// result that says so, and the next call works.
pub struct Toolbox {
    engine: Engine,
    read_tools: Option<Tools>,
    file_tools: Option<Tools>,
    config: Config,
    memory_bytes: usize,
    results: ResultsBound,
    turns: Arc<Semaphore>,
}

/// Why an instance did not give an answer.
pub(crate) enum Broken {
    Failure(Failure),
    Trap(wasmtime::Error),
}

impl From<wasmtime::Error> for Broken {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error)
    }
}

impl Toolbox {
    /// Starts making a toolbox.
    #[must_use]
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// How the tools behave.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Runs one call. What goes wrong is a result too.
    ///
    /// Dropping the future ends the call; a change that was being made is then made or not made
    /// as a whole.
    pub async fn call(&self, workspace: &Workspace, call: ToolCall) -> ToolResult {
        let (tool, call_id) = (call.tool.clone(), call.call_id.clone());
        let failure = match self.run(workspace, call).await {
            Ok(result) => return result,
            Err(failure) => failure,
        };
        ToolResult {
            tool,
            call_id,
            is_error: true,
            text: failure.text(),
            structured: failure.structured(),
            content: Vec::new(),
        }
    }

    /// The tools that are offered to a workspace of this access, in a fixed order.
    ///
    /// # Errors
    /// Fails if there is no component for the access.
    pub async fn definitions(&self, access: Access) -> Result<Vec<ToolDefinition>, BuildError> {
        let mut open = self.describe(access).await?;
        let guest = open.guest.toolbox();
        let definitions = guest.call_definitions(&mut open.store, open.toolbox).await;
        definitions.map_err(BuildError::component)
    }

    /// A section for a system prompt that says what the tools of this access are for, as they are
    /// configured; empty if none is offered.
    ///
    /// # Errors
    /// Fails if there is no component for the access.
    pub async fn prompt(&self, access: Access) -> Result<String, BuildError> {
        let mut open = self.describe(access).await?;
        let guest = open.guest.toolbox();
        let prompt = guest.call_prompt(&mut open.store, open.toolbox).await;
        prompt.map_err(BuildError::component)
    }

    /// An instance that describes itself, over no files.
    async fn describe(&self, access: Access) -> Result<Open, BuildError> {
        let tools = self.tools(access).ok_or(BuildError::NoComponent)?;
        // It takes a place like any other.
        let turn = self.turn().await.ok_or(BuildError::NoComponent)?;
        let mut store = self.store(Arc::new(crate::backends::Memory::new()));
        let run = async {
            let instance = tools.instance.instantiate_async(&mut store).await?;
            let guest = tools.toolbox.load(&mut store, &instance)?;
            let toolbox = open(&guest, &mut store, &self.config).await?;
            Ok((guest, toolbox))
        };
        let (guest, toolbox) = run.await.map_err(|broken| match broken {
            Broken::Failure(failure) => {
                BuildError::Config { field: String::new(), message: failure.message }
            }
            Broken::Trap(error) => BuildError::component(error),
        })?;
        Ok(Open { store, guest, toolbox, _turn: turn })
    }

    /// Waits for a place for an instance; none if there will be none.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    pub(crate) fn tools(&self, access: Access) -> Option<&Tools> {
        match access {
            Access::ReadOnly => self.read_tools.as_ref(),
            Access::ReadWrite => self.file_tools.as_ref(),
        }
    }

    async fn run(&self, workspace: &Workspace, call: ToolCall) -> Result<ToolResult, Failure> {
        let tools = self.tools(workspace.access()).ok_or_else(|| {
            Failure::new(Code::Unavailable, "no component for this workspace is loaded")
        })?;
        // They would be copied into the instance otherwise.
        check_size(&call.arguments, self.config.argument_bytes)?;
        let Some(_turn) = self.turn().await else {
            return Err(Failure::new(Code::Unavailable, "the toolbox is closed"));
        };
        let mut store = self.store(Arc::clone(&workspace.backend));
        let time = self.call_time();
        let answer = tokio::time::timeout(time, answer(tools, &mut store, &self.config, &call));
        let result = match answer.await {
            Ok(Ok(result)) => result,
            Ok(Err(Broken::Failure(failure))) => return Err(failure),
            Ok(Err(Broken::Trap(error))) => {
                return Err(broken(&error, &store.data().memory, time));
            }
            Err(_) => return Err(timed_out(time)),
        };
        self.check_size(&result)?;
        Ok(result)
    }

    /// How long a call may take: a search has its budget, and everything else some more.
    pub(crate) fn call_time(&self) -> Duration {
        Duration::from_millis(self.config.time_ms).saturating_add(CALL_GRACE)
    }

    pub(crate) fn store(&self, backend: Arc<dyn Backend>) -> Store<CallState> {
        let time = self.call_time();
        let state = CallState {
            backend,
            deadline: deadline(time),
            memory: MemoryBound { bytes: self.memory_bytes, was_hit: false },
            drafts: ResourceTable::new(),
            results: self.results.clone(),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_max_component_handles(MAX_HANDLES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|state| {
            Ok(if Instant::now() >= state.data().deadline {
                UpdateDeadline::Interrupt
            } else {
                // Others on this thread get their turn.
                UpdateDeadline::Yield(1)
            })
        });
        store
    }

    /// A result that is larger than it can be is not passed on.
    fn check_size(&self, result: &ToolResult) -> Result<(), Failure> {
        let text = (result.text.len() + result.structured.len()) as u64;
        let images: usize = result.content.iter().map(|image| image.data.len()).sum();
        if text > self.config.result_bytes || images > MAX_IMAGE_BYTES {
            return Err(Failure::new(
                Code::TooLarge,
                "the result is too large; ask for less at once",
            ));
        }
        Ok(())
    }
}

/// The moment that is so far from now. A time so long that it cannot be told is no bound.
pub(crate) fn deadline(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(u64::from(u32::MAX)))
}

/// An instance with an open toolbox.
struct Open {
    store: Store<CallState>,
    guest: Guest,
    toolbox: ResourceAny,
    _turn: OwnedSemaphorePermit,
}

async fn answer(
    tools: &Tools,
    store: &mut Store<CallState>,
    config: &Config,
    call: &ToolCall,
) -> Result<ToolResult, Broken> {
    let instance = tools.instance.instantiate_async(&mut *store).await?;
    let guest = tools.toolbox.load(&mut *store, &instance)?;
    let toolbox = open(&guest, store, config).await?;
    Ok(guest.toolbox().call_call(&mut *store, toolbox, call).await?)
}

async fn open(
    guest: &Guest,
    store: &mut Store<CallState>,
    config: &Config,
) -> Result<ResourceAny, Broken> {
    guest.toolbox().call_open(store, config).await?.map_err(|error| {
        Broken::Failure(Failure::new(
            Code::Internal,
            format!("the configuration is wrong at {}: {}", error.field, error.message),
        ))
    })
}

pub(crate) fn timed_out(time: Duration) -> Failure {
    Failure::new(
        Code::TimedOut,
        format!("the call was ended after {} s; ask for less at once", time.as_secs()),
    )
}

/// The failure that a trap is for the caller. What it was goes to the log.
pub(crate) fn broken(error: &wasmtime::Error, memory: &MemoryBound, time: Duration) -> Failure {
    if memory.was_hit {
        return Failure::new(
            Code::TooLarge,
            format!(
                "the call needs more than {} MiB of memory; ask for less at once",
                memory.bytes >> 20
            ),
        );
    }
    if error.downcast_ref::<wasmtime::Trap>() == Some(&wasmtime::Trap::Interrupt) {
        return timed_out(time);
    }
    tracing::error!(error = format!("{error:#}"), "a component broke down");
    Failure::new(Code::Internal, "the tool broke down; the next call works")
}
