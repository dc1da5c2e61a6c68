import { Memoized } from '../../base/memo.js';
import { hasEnded } from '../../base/run-words.js';
import {
  fits,
  type KeyedVerb,
  keyedVerbs,
  orderOf,
  type PlainVerb,
  type Refusal,
  refusalOf,
  rowOf,
  type RunVerb,
  runVerbs,
  type VerbKeys,
} from '../../protocol/run-verbs.js';
import { shortDuration } from '../../text/duration.js';
import { counted } from '../../text/numbers.js';
import { isHeldByBreaker } from '../model/attention.js';
import { type Branch, kindWord, suits } from '../model/tree/branch.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';
import type { VerbCommand } from '../state/command.js';
import type { RunId, RunSummary, SweepSummary } from '../state/port.js';
import type { KeyMapping } from '../state/preferences-port.js';
import type { UiState } from '../state/ui-state.js';
import { type KeyContext, type Pressed, refuse } from './key-context.js';
import { type KeyRow, mappedKeys, type Short, shownKey } from './key-row.js';

/** Worths of hints; the verbs that users look for first stay longest in the footer. */
const worths: Partial<Record<VerbCommand, number>> = { kill: 6, resume: 5, 'resume-group': 4, 'pause-group': 1 };

/** The keys that act on runs, from the table of run verbs. The small letter is for runs, the capital letter for the group. */
export const verbRows: readonly KeyRow[] = keyedVerbs.flatMap((verb): KeyRow[] => {
  const { key, run, group }: VerbKeys = runVerbs[verb].keys;
  const row = (
    command: VerbCommand,
    letter: (key: string) => string,
    help: string,
    target: (ui: UiState, at: KeyContext, key: string) => Asked['on'],
  ): KeyRow => ({
    ...{ command, keys: [letter(key)], help, group: 'runs', worth: worths[command] ?? 3 },
    short: shortFor(verb, command !== verb),
    act: (ui, at, pressed) => act(withSelection(ui, at), { verb, key: pressed, at, on: target(ui, at, pressed) }),
  });
  return [
    row(
      verb,
      (letter) => letter,
      run,
      (ui, at, pressed) => (each) => targetOf(each, pressed, ui, at),
    ),
    row(
      `${verb}-group`,
      (letter) => letter.toUpperCase(),
      group,
      (ui, at) => (each) => groupTargetOf(each, ui, at),
    ),
  ];
});

/** What the key would do now, for the footer: the verb, or the verb that undoes it; null: nothing. */
function shortFor(verb: KeyedVerb, isOfGroup: boolean): Short {
  const { undo } = rowOf(verb);
  const verbs = undo === null ? [verb] : [verb, undo];
  return (model) => {
    const { marks } = model.ui;
    const node = selectedNode(model);
    if (isOfGroup) {
      const does =
        node === undefined || node.kind === 'run' || marks.size > 0
          ? undefined
          : verbs.find((each) => suits(node, each));
      return does === undefined ? null : `${does} group`;
    }
    const runs = marks.size > 0 ? markedAmong(model) : node?.kind === 'run' ? [node.run] : [];
    return verbs.find((each) => runs.some(fits({ verb: each }))) ?? null;
  };
}

function markedAmong({ groups, ui: { marks } }: WindowModel): readonly RunSummary[] {
  return marked.value([groups, marks], () => groups.flatMap(({ runs }) => runs.filter(({ id }) => marks.has(id))));
}

const marked = new Memoized<readonly RunSummary[]>();

/** Keeps the row under the cursor selected, even if the action removes it from the filter. */
function withSelection(ui: UiState, { rows, index }: KeyContext): UiState {
  return { ...ui, selected: rows[index]?.key ?? ui.selected, index };
}

/** A verb whose key was pressed. `on`: the runs it acts on, or why there are none. */
type Asked = {
  readonly verb: KeyedVerb;
  readonly key: string;
  readonly at: Pick<KeyContext, 'now' | 'sweeps' | 'status'>;
  readonly on: (verb: PlainVerb) => Target;
};

/** Applies the verb if any of the runs allows it, otherwise the verb that undoes it, if there is one. */
function act(ui: UiState, { verb, key, at, on }: Asked): Pressed {
  if (at.status.readOnly !== undefined) return refuse(ui, at.status.readOnly);
  const { undo } = rowOf(verb);
  for (const type of undo === null ? [verb] : [verb, undo]) {
    const target = on(type);
    if (target.kind === 'runs' && target.runs.some(fits({ verb: type })))
      return sent(ui, { verb: type, key, at }, target);
  }
  const target = on(verb);
  if (target.kind === 'none') return refuse(ui, target.why);
  const [run] = target.runs;
  const refusal = refusalOf({ verb }, run!);
  return refuse(
    ui,
    `${run!.name} ${refusal === null ? `is ${run!.state}` : refusalWithKeys(refusal, run!, ui.keys, at.now)}.`,
  );
}

type Sent = Pick<Asked, 'key' | 'at'> & { readonly verb: PlainVerb };

function sent(ui: UiState, { verb, key, at }: Sent, target: Extract<Target, { kind: 'runs' }>): Pressed {
  const { undo, asks } = rowOf(verb);
  const { runs, what, caution } = target;
  const order = { type: verb, ids: runs.map(({ id }) => id), what };
  if (asks) {
    const question = `${capital(verb)} ${what}${caution}?`;
    const detail = verb === 'kill' ? graceWords(runs, at.sweeps) : null;
    return { ui: { ...ui, dialog: { kind: 'confirm', question, detail, yes: ['y', 'enter'], order } } };
  }
  if (undo === null) return { ui, order };
  return { ui, order: { ...order, undo: `${key} ${runVerbs[undo].does} ${runs.length === 1 ? 'it' : 'them'}` } };
}

/** A refusal that names a key: `is held; h releases it`. */
export function refusalWithKeys(refusal: Refusal, { killAt }: RunSummary, keys: KeyMapping, now: number): string {
  const { why, first, instead } = refusal;
  const countdown = killAt === null ? '' : `, SIGKILL in ${shortDuration(Math.max(0, killAt - now))}`;
  const better = first ?? instead;
  return `${why}${countdown}${better === undefined ? '' : `; ${byKey(better, keys)}`}`;
}

/** `h releases it` with the verb's own or shared key; without one, the verb as a word. */
function byKey(verb: PlainVerb, keys: KeyMapping): string {
  const key = keyOfVerb(verb, keys);
  return key === null ? `${verb} it` : `${key} ${runVerbs[verb].does} it`;
}

/** The key of a verb for one run, or the key it shares with the verb it undoes, as it is shown; null: it has none. */
export function keyOfVerb(verb: PlainVerb, keys: KeyMapping): string | null {
  const keyed = keyedVerbOf(verb);
  return keyed === null ? null : shownKey(mappedKeys(keyed, keys)?.[0] ?? runVerbs[keyed].keys.key);
}

/** The same for the group of the selection. */
export function groupKeyOfVerb(verb: PlainVerb, keys: KeyMapping): string | null {
  const keyed = keyedVerbOf(verb);
  if (keyed === null) return null;
  return shownKey(mappedKeys(`${keyed}-group`, keys)?.[0] ?? runVerbs[keyed].keys.key.toUpperCase());
}

/** The verb whose key a verb has: its own, or that of the verb it undoes; null: none. */
function keyedVerbOf(verb: RunVerb): KeyedVerb | null {
  return keyedVerbs.find((each) => each === verb || rowOf(each).undo === verb) ?? null;
}

/** `Kill` */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The runs a key acts on, or why there are none. */
type Target =
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

/**
 * The runs that the key for groups acts on: the shown runs of the selection's group or subgroup. Runs held by a breaker are
 * released together, even if the selection holds none of them.
 */
function groupTargetOf(verb: PlainVerb, ui: UiState, at: KeyContext): Target {
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

/** What killing these runs will do: `SIGTERM now, SIGKILL after 10s`. Null if none of them has a process to signal. */
export function graceWords(runs: readonly RunSummary[], sweeps: readonly SweepSummary[]): string | null {
  const alive = runs.filter(({ state, pid }) => !hasEnded(state) && pid !== null);
  if (alive.length === 0) return null;
  const graces = new Set(alive.map((run) => graceOf(run, sweeps)));
  const [grace] = graces;
  // Groups may differ, and an older supervisor does not send it.
  const after = graces.size === 1 && grace !== undefined ? shortDuration(grace * 1000) : 'the grace period';
  return `SIGTERM now, SIGKILL after ${after}`;
}

function graceOf({ sweep, group }: RunSummary, sweeps: readonly SweepSummary[]): number | undefined {
  return sweeps.find(({ name }) => name === sweep)?.groups.find(({ name }) => name === group)?.grace;
}

/** Closes a question whether to kill runs that have all ended meanwhile, since neither answer would do anything, and says so. */
export function withoutStaleQuestion(ui: UiState, runs: ReadonlyMap<RunId, RunSummary>): UiState {
  const order = ui.dialog.kind === 'confirm' ? ui.dialog.order : null;
  const isLive = (run: RunSummary | undefined): boolean => run !== undefined && !hasEnded(run.state);
  if (order?.type === 'kill')
    return order.ids.some((id) => isLive(runs.get(id))) ? ui : withoutQuestion(ui, order.what);
  if (order?.type !== 'stop-sweep') return ui;
  const { sweep } = order;
  return [...runs.values()].some((run) => run.sweep === sweep && isLive(run)) ? ui : withoutQuestion(ui, sweep);
}

function withoutQuestion(ui: UiState, what: string): UiState {
  const text = `Nothing is left to kill: ${what} ended meanwhile.`;
  return { ...ui, dialog: { kind: 'none' }, note: { text, tone: 'dim' } };
}
