import { counted } from '../../text/numbers.js';
import {
  fits,
  type KeyedVerb,
  keyedVerbs,
  orderOf,
  type PlainVerb,
  rowOf,
  runVerbs,
  type RunVerb,
} from '../../protocol/run-verbs.js';
import { isHeldByBreaker } from '../model/attention.js';
import type { KeyContext } from './key-context.js';
import type { RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { type Branch, kindWord } from '../model/tree/branch-index.js';

/** The runs a key acts on, or why there are none. */
export type Target =
  | {
      readonly kind: 'runs';
      /** Those of the chosen runs to which the verb applies; at least one. */
      readonly runs: readonly RunSummary[];
      /** `A_x_s0`, `12 runs of A`, `9 of the 12 marked runs`. */
      readonly what: string;
      /** An addition to the question: `, 3 of them hidden by the filter`; usually empty. */
      readonly caution: string;
    }
  | { readonly kind: 'none'; readonly why: string };

/** The runs that the key for single runs acts on: the marked ones if there are any, otherwise the selected run. */
export function targetOf(verb: RunVerb, key: string, ui: UiState, at: KeyContext): Target {
  if (ui.marks.size > 0) return markedTarget(verb, ui, at);
  const node = at.rows[at.index];
  if (node === undefined) return { kind: 'none', why: `There is no run to ${verb}.` };
  if (node.kind === 'run') return { kind: 'runs', runs: [node.run], what: node.run.name, caution: '' };
  const keyed = keyedVerbOf(verb);
  const group = keyed === null ? '' : `; ${at.keyOf(`${keyed}-group`)} is for the ${kindWord(node)}`;
  return { kind: 'none', why: `${key} is for one run or for marked ones${group}.` };
}

/** The verb whose key a verb has: its own, or that of the verb it undoes; null: none. */
export function keyedVerbOf(verb: RunVerb): KeyedVerb | null {
  return keyedVerbs.find((each) => each === verb || rowOf(each).undo === verb) ?? null;
}

/**
 * The runs that the key for groups acts on: the shown runs of the selection's group or subgroup. Runs held by a breaker are
 * released together, even if the selection holds none of them.
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

/**
 * All runs held by a breaker in the groups of these runs, or in any group if there are none; empty if one of these runs is held by
 * a user.
 */
function heldByBreaker(runs: readonly RunSummary[], { runs: all }: KeyContext): readonly RunSummary[] {
  if (!runs.every(isHeldByBreaker)) return [];
  const groups = new Set(runs.map(({ sweep, group }) => `${sweep}/${group}`));
  return all.filter((run) => isHeldByBreaker(run) && (groups.size === 0 || groups.has(`${run.sweep}/${run.group}`)));
}

function markedTarget(verb: RunVerb, ui: UiState, at: KeyContext): Target {
  const marked = at.runs.filter(({ id }) => ui.marks.has(id));
  const runs = marked.filter(fits(orderOf(verb)));
  if (runs.length === 0) {
    return {
      kind: 'none',
      why: `None of the ${markedRuns(marked.length)} ${runVerbs[verb].suits}; ${at.keyOf('mark-all')} unmarks them.`,
    };
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

/** The selected branch, or the group or subgroup that contains the selected run. */
function branchAt({ rows, index, branches }: KeyContext): Branch | null {
  const node = rows[index];
  if (node?.kind !== 'run') return node ?? null;
  const holder = branches.get(node.parent);
  return (holder?.kind === 'waiting' ? branches.get(holder.parent!) : holder) ?? null;
}
