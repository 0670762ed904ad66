//! A toolbox: components compiled once, and a fresh instance for every call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use handhold_core::arguments::check_size;
use handhold_core::failure::{Code, Failure};
use handhold_core::types::{Config, ToolCall, ToolDefinition, ToolResult};
use tokio::sync::Semaphore;
use wasmtime::component::{HasSelf, InstancePre, Linker};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::backend::Backend;
use crate::bindings::exports::handhold::fs::tools::{Guest, GuestIndices};
use crate::bindings::handhold::fs::{reader, writer};
use crate::code_cache;
use crate::engine::engine;
use crate::error::BuildError;
use crate::state::{CallState, MemoryBound};

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

/// How many handles an instance may hold. It holds one: its toolbox.
const MAX_HANDLES: usize = 100;

/// How many bytes of images a result may have besides its text.
const MAX_IMAGE_BYTES: usize = 8 << 20;

/// What a call may do to the files of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Look: the component of the world `read-tools` runs, which has nothing to write with.
    ReadOnly,
    /// Look and change: the component of the world `file-tools` runs.
    ReadWrite,
}

/// A backend, and what calls may do with it.
#[derive(Clone)]
pub struct Workspace {
    backend: Arc<dyn Backend>,
    access: Access,
}

impl Workspace {
    /// A workspace that may be changed.
    #[must_use]
    pub fn new(backend: impl Backend + 'static) -> Self {
        Self::shared(Arc::new(backend))
    }

    /// A workspace over a backend that others use too.
    #[must_use]
    pub fn shared(backend: Arc<dyn Backend>) -> Self {
        Self { backend, access: Access::ReadWrite }
    }

    /// The same workspace, which may not be changed.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// What calls may do.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }
}

/// Makes a [`Toolbox`].
#[derive(Default)]
pub struct ToolboxBuilder {
    read_tools: Option<Vec<u8>>,
    file_tools: Option<Vec<u8>>,
    config: Config,
    memory_bytes: Option<usize>,
    concurrent_calls: Option<u32>,
    code_cache: Option<PathBuf>,
}

impl ToolboxBuilder {
    /// The component of the world `read-tools`, for workspaces that are read only. Default: none.
    #[must_use]
    pub fn read_tools(mut self, component: impl Into<Vec<u8>>) -> Self {
        self.read_tools = Some(component.into());
        self
    }

    /// The component of the world `file-tools`, for workspaces that may be changed. Default: none.
    #[must_use]
    pub fn file_tools(mut self, component: impl Into<Vec<u8>>) -> Self {
        self.file_tools = Some(component.into());
        self
    }

    /// How the tools behave. Default: [`Config::default`].
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// How many bytes of memory the instance of a call may have. Default:
    /// [`DEFAULT_MEMORY_BYTES`].
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// How many calls run at once; 0 for one at a time without a pool of instances, which starts
    /// sooner. Default: [`DEFAULT_CONCURRENT_CALLS`].
    #[must_use]
    pub fn concurrent_calls(mut self, calls: u32) -> Self {
        self.concurrent_calls = Some(calls);
        self
    }

    /// A directory for compiled code. It is used only if nobody but this user can write to it.
    /// Default: none, and every toolbox compiles.
    #[must_use]
    pub fn code_cache(mut self, dir: impl Into<PathBuf>) -> Self {
        self.code_cache = Some(dir.into());
        self
    }

    /// Checks the configuration and compiles the components.
    ///
    /// This takes about a second when the code is not in the cache.
    ///
    /// # Errors
    /// Fails for a configuration that is wrong, naming the field, and for components that do not
    /// compile or import something else than their world.
    pub fn build(self) -> Result<Toolbox, BuildError> {
        // The rules are those of the component; here they need no instance.
        handhold_core::toolbox::Toolbox::open(handhold_core::tools::ALL_TOOLS, self.config.clone())
            .map_err(|error| BuildError::Config { field: error.field, message: error.message })?;
        let memory_bytes = self.memory_bytes.unwrap_or(DEFAULT_MEMORY_BYTES);
        let calls = self.concurrent_calls.unwrap_or(DEFAULT_CONCURRENT_CALLS);
        let engine = engine(calls, memory_bytes).map_err(BuildError::engine)?;
        let load = |bytes: Option<Vec<u8>>, access| -> Result<Option<Tools>, BuildError> {
            let cache = self.code_cache.as_deref();
            bytes.map(|bytes| Tools::load(&engine, &bytes, access, cache)).transpose()
        };
        let read_tools = load(self.read_tools, Access::ReadOnly)?;
        let file_tools = load(self.file_tools, Access::ReadWrite)?;
        let turns = Arc::new(Semaphore::new(usize::try_from(calls.max(1)).unwrap_or(1)));
        Ok(Toolbox { engine, read_tools, file_tools, config: self.config, memory_bytes, turns })
    }
}

/// A compiled component, linked with what its access grants and nothing else.
struct Tools {
    instance: InstancePre<CallState>,
    exports: GuestIndices,
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
        let exports = GuestIndices::new(&instance).map_err(BuildError::component)?;
        Ok(Self { instance, exports })
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
    turns: Arc<Semaphore>,
}

/// Why an instance did not give an answer.
enum Broken {
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
        let tools = self.tools(access).ok_or(BuildError::NoComponent)?;
        let backend: Arc<dyn Backend> = Arc::new(crate::backends::Memory::new());
        // An instance takes a place like any other.
        let _turn = self.turns.acquire().await.map_err(|_| BuildError::NoComponent)?;
        let mut store = self.store(backend);
        let run = async {
            let instance = tools.instance.instantiate_async(&mut store).await?;
            let guest = tools.exports.load(&mut store, &instance)?;
            let toolbox = open(&guest, &mut store, &self.config).await?;
            Ok(guest.toolbox().call_definitions(&mut store, toolbox).await?)
        };
        run.await.map_err(|broken| match broken {
            Broken::Failure(failure) => {
                BuildError::Config { field: String::new(), message: failure.message }
            }
            Broken::Trap(error) => BuildError::component(error),
        })
    }

    fn tools(&self, access: Access) -> Option<&Tools> {
        match access {
            Access::ReadOnly => self.read_tools.as_ref(),
            Access::ReadWrite => self.file_tools.as_ref(),
        }
    }

    async fn run(&self, workspace: &Workspace, call: ToolCall) -> Result<ToolResult, Failure> {
        let tools = self.tools(workspace.access).ok_or_else(|| {
            Failure::new(Code::Unavailable, "no component for this workspace is loaded")
        })?;
        // They would be copied into the instance otherwise.
        check_size(&call.arguments, self.config.argument_bytes)?;
        let Ok(_turn) = self.turns.acquire().await else {
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
    fn call_time(&self) -> Duration {
        Duration::from_millis(self.config.time_ms).saturating_add(CALL_GRACE)
    }

    fn store(&self, backend: Arc<dyn Backend>) -> Store<CallState> {
        let time = self.call_time();
        // A time so long that it cannot be told is no bound.
        let deadline = Instant::now()
            .checked_add(time)
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(u64::from(u32::MAX)));
        let memory = MemoryBound { bytes: self.memory_bytes, was_hit: false };
        let mut store = Store::new(&self.engine, CallState { backend, deadline, memory });
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

async fn answer(
    tools: &Tools,
    store: &mut Store<CallState>,
    config: &Config,
    call: &ToolCall,
) -> Result<ToolResult, Broken> {
    let instance = tools.instance.instantiate_async(&mut *store).await?;
    let guest = tools.exports.load(&mut *store, &instance)?;
    let toolbox = open(&guest, store, config).await?;
    Ok(guest.toolbox().call_call(&mut *store, toolbox, call).await?)
}

async fn open(
    guest: &Guest,
    store: &mut Store<CallState>,
    config: &Config,
) -> Result<wasmtime::component::ResourceAny, Broken> {
    guest.toolbox().call_open(store, config).await?.map_err(|error| {
        Broken::Failure(Failure::new(
            Code::Internal,
            format!("the configuration is wrong at {}: {}", error.field, error.message),
        ))
    })
}

fn timed_out(time: Duration) -> Failure {
    Failure::new(
        Code::TimedOut,
        format!("the call was ended after {} s; ask for less at once", time.as_secs()),
    )
}

/// The failure that a trap is for the caller. What it was goes to the log.
fn broken(error: &wasmtime::Error, memory: &MemoryBound, time: Duration) -> Failure {
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
