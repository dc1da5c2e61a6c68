import { counted } from '../../text/numbers.js';
import { fits, type PlainVerb, runVerbs } from '../../protocol/run-verbs.js';
import { isHeldByBreaker } from '../model/attention.js';
import type { KeyContext } from './key-context.js';
import type { RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { type Branch, kindWord } from '../model/tree/branch-index.js';

/** The runs a key acts on, or why there are none. */
export type Target =
  | {
      readonly kind: 'runs';
      /** Those of the chosen for which the verb makes sense; at least one. */
      readonly runs: readonly RunSummary[];
      /** `A_x_s0`, `12 runs of A`, `9 of the 12 marked runs`. */
      readonly what: string;
      /** What a question has to add: `, 3 of them not shown by the filter`; mostly nothing. */
      readonly caution: string;
    }
  | { readonly kind: 'none'; readonly why: string };

/** What a verb acts on as a key for one run: the marks while there are any, else the selected run. */
export function targetOf(verb: PlainVerb, key: string, ui: UiState, at: KeyContext): Target {
  if (ui.marks.size > 0) return markedTarget(verb, ui, at);
  const node = at.rows[at.index];
  if (node === undefined) return { kind: 'none', why: `There is no run to ${verb}.` };
  if (node.kind === 'run') return { kind: 'runs', runs: [node.run], what: node.run.name, caution: '' };
  const group = key.toUpperCase();
  return { kind: 'none', why: `${key} is for one run or for marked ones; ${group} is for the ${kindWord(node)}.` };
}

/**
 * What a verb acts on as a key for a group: what of the selection's group or subgroup is shown. What a breaker holds is let go as a
 * whole, also where the selection has nothing to do with it.
 */
export function groupTargetOf(verb: PlainVerb, ui: UiState, at: KeyContext): Target {
  const branch = branchAt(at);
  if (branch === null) return { kind: 'none', why: `There is no group to ${verb}.` };
  const runs = branch.runs.filter(fits({ verb }));
  const held = verb === 'release' ? heldByBreaker(runs, at) : [];
  if (held.length > 0) return { kind: 'runs', runs: held, what: counted(held.length, 'held run'), caution: '' };
  if (runs.length === 0) return { kind: 'none', why: `No run of ${branch.label} ${runVerbs[verb].suits}.` };
  const caution = ui.filter === '' ? '' : ' that the filter shows';
  return { kind: 'runs', runs, what: `${counted(runs.length, 'run')} of ${branch.label}`, caution };
}

/** All that the breaker holds in the groups of these runs, or of none of them anywhere; none where a person holds one of them. */
function heldByBreaker(runs: readonly RunSummary[], { runs: all }: KeyContext): readonly RunSummary[] {
  if (!runs.every(isHeldByBreaker)) return [];
  const groups = new Set(runs.map(({ sweep, group }) => `${sweep}/${group}`));
  return all.filter((run) => isHeldByBreaker(run) && (groups.size === 0 || groups.has(`${run.sweep}/${run.group}`)));
}

function markedTarget(verb: PlainVerb, ui: UiState, at: KeyContext): Target {
  const marked = at.runs.filter(({ id }) => ui.marks.has(id));
  const runs = marked.filter(fits({ verb }));
  if (runs.length === 0) {
    return { kind: 'none', why: `None of the ${markedRuns(marked.length)} ${runVerbs[verb].suits}; * unmarks them.` };
  }
  const shown = new Set(at.groups.flatMap((group) => group.runs.map(({ id }) => id)));
  const hidden = runs.filter(({ id }) => !shown.has(id)).length;
  const what =
    runs.length === marked.length ? markedRuns(runs.length) : `${runs.length} of the ${markedRuns(marked.length)}`;
  return { kind: 'runs', runs, what, caution: hidden === 0 ? '' : `, ${hidden} of them hidden by the filter` };
}

function markedRuns(count: number): string {
  return count === 1 ? '1 marked run' : `${count} marked runs`;
}

/** The selected branch, or the group or subgroup the selected run is in. */
function branchAt({ rows, index, branches }: KeyContext): Branch | null {
  const node = rows[index];
  if (node?.kind !== 'run') return node ?? null;
  const holder = branches.get(node.parent);
  return (holder?.kind === 'waiting' ? branches.get(holder.parent!) : holder) ?? null;
}
