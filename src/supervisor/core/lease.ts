import { closeSync, constants, openSync, statSync, utimesSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import type { LeaseTerms } from '../../contract/supervisor-lock.js';
import { fileSystemTime } from '../../files/file-system-time.js';

/**
 * The signs of life of a supervisor, for those who cannot see its process: on another host, in another container.
 *
 * A sign is a byte written to `lease`. Its age is not told by anybody's clock but by comparing two times of one file system:
 * that of `lease` and that of a file written this moment. So hosts whose clocks differ agree, on network file systems too.
 */
export class Lease {
  readonly #path: string;

  constructor(runsDirectory: string) {
    this.#path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lease);
  }

  /** Sends a heartbeat. Where a full disk refuses the byte, the time alone is set. */
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

  /** Differs after each heartbeat; null when there was none. */
  mark(): string | null {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs}`;
  }

  /** How long ago the last heartbeat was, ms; Infinity when there was none. Throws when the folder cannot be written to. */
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
      // The next one is due soon.
    }
  }
}

/** Beats without a heartbeat that are waited for, however old the last one: a clock may have been set meanwhile. */
const WATCHED_BEATS = 2;

/**
 * Watches the lease of a supervisor that is out of sight: true when it has expired and no heartbeat has come while it
 * was watched, false as soon as one comes.
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
