//! How much memory there is, so that what would not fit is refused before it is allocated.

use thiserror::Error;

/// What is taken where the operating system does not tell: 4 GB.
const UNKNOWN: u64 = 4 << 30;

/// Something needs more memory than there is.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{what} would take about {:.1} GB of memory, {:.1} GB are free", gigabytes(*.needed), gigabytes(*.free as f64))]
pub struct MemoryError {
    /// What needs it.
    pub what: String,
    /// Bytes it needs, about.
    pub needed: f64,
    /// Bytes that are free.
    pub free: u64,
}

fn gigabytes(bytes: f64) -> f64 {
    1e-9 * bytes
}

/// Refuses what needs more than the memory that is free now. `needed` is a product of sizes, which as a floating-point
/// number cannot overflow.
pub fn check_memory(what: impl Into<String>, needed: f64) -> Result<(), MemoryError> {
    let free = free_memory();
    if needed <= free as f64 {
        return Ok(());
    }
    Err(MemoryError {
        what: what.into(),
        needed,
        free,
    })
}

/// Bytes that can be had without swapping, within the limit of the group of processes, where the system tells.
pub fn free_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| available(&text));
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current");
    let group = limit.map(|limit| limit.saturating_sub(used.unwrap_or(0)));
    match (machine, group) {
        (Some(machine), Some(group)) => machine.min(group),
        (machine, group) => machine.or(group).unwrap_or(UNKNOWN),
    }
}

/// The line `MemAvailable: n kB`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_its_size() {
        assert_eq!(
            available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"),
            Some(2 << 20)
        );
        assert!(check_memory("a page", 4096.0).is_ok());
        let error = check_memory("W", 8.0 * 1e9 * 1e9).unwrap_err().to_string();
        assert!(
            error.starts_with("W would take about 8000000000.0 GB"),
            "{error}"
        );
    }
}
