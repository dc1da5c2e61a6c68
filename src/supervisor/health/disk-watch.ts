import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DiskRoom } from '../../analysis/health/resources.js';
import { diskRoom } from '../../files/disk-room.js';

/** Interval of looks, ms. */
const LOOK_MS = 30_000;

/** Free space on the disks of runs. Each disk is queried once, not for each run, and asynchronously, as a disk may hang. */
export class DiskWatch {
  /** Space by folder of runs. */
  #rooms: ReadonlyMap<string, DiskRoom> = new Map();
  #lookedAt = -Infinity;
  #isLooking = false;

  /** The space at the last look; null: unknown. */
  of(directory: string): DiskRoom | null {
    return this.#rooms.get(dirname(directory)) ?? null;
  }

  /** Queries the disks, if a look is due. @param directories Directories of live runs. @param now ms, any zero. */
  lookAt(directories: Iterable<string>, now: number): void {
    if (this.#isLooking || now - this.#lookedAt < LOOK_MS) return;
    this.#isLooking = true;
    this.#lookedAt = now;
    void roomsOf(new Set([...directories].map((directory) => dirname(directory)))).then((rooms) => {
      this.#rooms = rooms;
      this.#isLooking = false;
    });
  }
}

async function roomsOf(folders: ReadonlySet<string>): Promise<Map<string, DiskRoom>> {
  const byDevice = new Map<number, DiskRoom | null>();
  const rooms = new Map<string, DiskRoom>();
  for (const folder of folders) {
    const device = await stat(folder).then(
      ({ dev }) => dev,
      () => null,
    );
    if (device === null) continue;
    if (!byDevice.has(device)) byDevice.set(device, await diskRoom(folder));
    const room = byDevice.get(device) ?? null;
    if (room !== null) rooms.set(folder, room);
  }
  return rooms;
}
