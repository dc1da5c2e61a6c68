import { cleanText } from '../../../text/display-text.js';
import type { RunSummary } from '../../state/port.js';
import type { TreeNode } from './branch-index.js';

/** Fewer waiting runs are shown individually. */
const leastWaiting = 4;

/** Runs that wait for the same thing, shown as one row. `nodes`: the rows that it replaces. */
export type WaitingRuns = {
  /** `waiting for warmup`, `held: 3 runs in a row failed`. */
  readonly what: string;
  readonly runs: readonly RunSummary[];
  readonly nodes: readonly TreeNode[];
};

/** Waiting runs and groups of which nothing has begun, by what they wait for, if there are enough of them. */
export function waitingAmong(nodes: readonly TreeNode[]): readonly WaitingRuns[] {
  const found = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const what = node.kind === 'run' ? waitsFor(node.run) : commonWait(node.runs);
    if (what === null) continue;
    const others = found.get(what);
    if (others === undefined) found.set(what, [node]);
    else others.push(node);
  }
  return [...found]
    .map(([what, own]) => ({
      what,
      nodes: own,
      runs: own.flatMap((node) => (node.kind === 'run' ? node.run : node.runs)),
    }))
    .filter(({ runs }) => runs.length >= leastWaiting);
}

function commonWait(runs: readonly RunSummary[]): string | null {
  const what = waitsFor(runs[0]!);
  return what !== null && runs.every((run) => waitsFor(run) === what) ? what : null;
}

/** What a run waits for; null if it has begun or is to be retried, as it is then shown individually. */
function waitsFor({ state, attempt, retryAt, reason }: RunSummary): string | null {
  if (attempt > 0 || retryAt !== null || (state !== 'queued' && state !== 'held')) return null;
  return reason === null ? state : whatOf(reason);
}

/** Cache by reason: thousands of runs share one, and each publication asks again. */
const known = new Map<string, string>();
const mostKnown = 1000;

/** The reason without its changing parts and advice: `waiting for a slot (2 of 2 busy)`. */
function whatOf(reason: string): string {
  const before = known.get(reason);
  if (before !== undefined) return before;
  const text = cleanText(reason).replace(/(?: \([^()]*\))?(?:; [^]*)?$/, '');
  const what = /^(?:waiting|held)\b/.test(text) ? text : `queued: ${text}`;
  if (known.size > mostKnown) known.clear();
  known.set(reason, what);
  return what;
}
