import type { SchedulerState } from '../../../src/scheduler/state.js';
import type { JournalContents } from '../../../src/supervisor/core/journal-text.js';
import { Recovery } from '../../../src/supervisor/core/recovery.js';

/** Replays a journal that has been read, as a supervisor does while it reads one. */
export function recover(state: SchedulerState, { snapshot, events }: JournalContents, path: string): Recovery {
  const recovery = new Recovery(state, path);
  if (snapshot !== null) recovery.snapshot(snapshot);
  for (const event of events) recovery.event(event);
  return recovery;
}
