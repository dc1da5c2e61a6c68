import { join } from 'node:path';
import { sacredFiles, timeIn, unpickled } from '../formats/sacred.js';
import { objectIn } from '../formats/said-values.js';
import type { FoundFacts } from './facts.js';
import { parametersOf, recordOf } from './setting-files.js';

const states: Readonly<Record<string, FoundFacts['state']>> = {
  ...{ RUNNING: 'running', COMPLETED: 'done', INTERRUPTED: 'killed' },
  ...{ FAILED: 'failed', TIMEOUT: 'failed' },
};
/** sacred writes the record of a run that goes on every ten seconds: one that is older has been left by its process, ms. */
const DEAD_MS = 5 * 60_000;

/** What sacred's FileStorageObserver says of a run. */
export function sacredFacts(directory: string): Partial<FoundFacts> {
  const record = objectIn(join(directory, sacredFiles.record)) ?? {};
  const config = recordOf(unpickled(objectIn(join(directory, sacredFiles.config)) ?? {}))!;
  const experiment = recordOf(record['experiment']);
  const comment = recordOf(record['meta'])?.['comment'];
  return {
    parameters: parametersOf(config),
    group: typeof experiment?.['name'] === 'string' ? experiment['name'] : null,
    ...stateOf(record),
    ...{ startedAt: timeIn(record['start_time']), endedAt: timeIn(record['stop_time']) },
    note: typeof comment === 'string' && comment !== '' ? comment : null,
  };
}

function stateOf(record: Readonly<Record<string, unknown>>): Pick<FoundFacts, 'state' | 'reason'> {
  const state = states[String(record['status'])] ?? null;
  const heartbeat = timeIn(record['heartbeat']);
  if (state === 'running' && heartbeat !== null && Date.now() - heartbeat > DEAD_MS)
    return { state: 'lost', reason: null };
  return { state, reason: state === 'failed' ? failureOf(record) : null };
}

/** The exception at the end of the traceback; its message may have several lines. */
function failureOf({ fail_trace: trace, status }: Readonly<Record<string, unknown>>): string {
  const last: unknown = Array.isArray(trace) ? trace.at(-1) : null;
  return typeof last === 'string' && last.trim() !== '' ? last.trim().split('\n')[0]! : `sacred says ${String(status)}`;
}
