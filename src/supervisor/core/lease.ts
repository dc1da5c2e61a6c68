import { closeSync, constants, openSync, statSync, utimesSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import type { LeaseTerms } from '../../contract/supervisor-lock.js';
import { fileSystemTime } from '../../files/file-system-time.js';

/**
 * Heartbeats of a supervisor for those who cannot see its process: on another host, or in another container.
 *
 * A heartbeat is a byte written to `lease`. Its age is the difference of two times of the same file system: that of `lease` and
 * that of a file created now. So hosts whose clocks differ agree, also on network file systems.
 */
export class Lease {
  readonly #path: string;

  constructor(runsDirectory: string) {
    this.#path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lease);
  }

  /** Sends a heartbeat. If a full disk refuses the byte, only the time is set. */
  renew(): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    let file: number | null = null;
    try {
      file = openSync(this.#path, flags, 0o600);
      writeSync(file, '.', 0);
    } catch {
      this.#touch();
    } finally {
      if (file !== null) closeSync(file);
    }
  }

  /** A text that differs after each heartbeat; null: there was none. */
  mark(): string | null {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs}`;
  }

  /** Time since the last heartbeat, ms; Infinity: there was none. Throws when the folder is not writable. */
  silentFor(): number {
    const last = statSync(this.#path, { throwIfNoEntry: false });
    return last === undefined ? Infinity : fileSystemTime(dirname(this.#path)) - last.mtimeMs;
  }

  /** Whether the last heartbeat was sent before this machine was started. */
  isFromEarlierBoot(): boolean {
    return this.silentFor() > uptime() * 1000;
  }

  #touch(): void {
    try {
      const now = Date.now() / 1000;
      utimesSync(this.#path, now, now);
    } catch {
      // The next heartbeat follows soon.
    }
  }
}

/** Number of intervals without a heartbeat that are waited for, however old the last one is, as a clock may have been set. */
const WATCHED_BEATS = 2;

/**
 * Watches the lease of a supervisor whose process is not visible: true when it has expired and no heartbeat has come meanwhile,
 * false as soon as one comes.
 */
export async function fallsSilent(lease: Lease, { leaseMs, beatMs }: LeaseTerms): Promise<boolean> {
  const beganAt = performance.now();
  const first = lease.mark();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, beatMs / 4));
    if (lease.mark() !== first) return false;
    const isWatched = performance.now() - beganAt >= WATCHED_BEATS * beatMs;
    if (isWatched && lease.silentFor() >= leaseMs) return true;
  }
}
