//! The Wasmtime engine, and the clock that ends calls.

use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often running code is interrupted to look at the time.
const TICK: Duration = Duration::from_millis(10);

/// How much memory of an instance stays resident for the next one: 1 MiB, what a small call
/// touches.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;

/// How many entries a table may have; the components need a few hundred.
const TABLE_ENTRIES: usize = 20_000;

/// Makes an engine for up to `calls` calls at once; 0 for instances that are made one by one.
///
/// A pool reserves address space. Where that is not to be had, instances are made one by one.
pub(crate) fn engine(calls: u32, memory_bytes: usize) -> wasmtime::Result<Engine> {
    let engine = match calls {
        0 => Engine::new(&config(InstanceAllocationStrategy::OnDemand))?,
        calls => Engine::new(&config(pool(calls, memory_bytes))).or_else(|_| {
            tracing::warn!("no address space for a pool of instances");
            Engine::new(&config(InstanceAllocationStrategy::OnDemand))
        })?,
    };
    tick(&engine);
    Ok(engine)
}

fn config(allocation: InstanceAllocationStrategy) -> Config {
    let mut config = Config::new();
    config.allocation_strategy(allocation).concurrency_support(false).epoch_interruption(true);
    config
}

fn pool(calls: u32, memory_bytes: usize) -> InstanceAllocationStrategy {
    let mut pool = PoolingAllocationConfig::new();
    // A component is a few core instances (its module, and the shims of its imports) with one
    // memory and two tables.
    pool.total_component_instances(calls)
        .total_core_instances(calls.saturating_mul(4))
        .total_memories(calls)
        .total_tables(calls.saturating_mul(2))
        .total_stacks(calls)
        .table_elements(TABLE_ENTRIES)
        .max_memory_size(memory_bytes)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    // Slots are given back one by one: a slot that waits to be given back with others would be
    // missing for the call that has just got its turn.
    InstanceAllocationStrategy::Pooling(pool)
}

/// Ticks as long as the engine lives.
fn tick(engine: &Engine) {
    let engine = engine.weak();
    let ticker = std::thread::Builder::new().name("handhold-ticks".to_owned());
    let started = ticker.spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    });
    if started.is_err() {
        tracing::warn!("no thread for the clock: endless loops in a component will not be ended");
    }
}
