import { groupBy } from '../../base/group-by.js';
import { hasEnded, type RunWord } from '../../base/run-words.js';
import { quote } from '../../query/text.js';
import { counted } from '../../text/numbers.js';
import { compactNames } from './compact-names.js';
import { type Change, type Difference, isQueued, isUp, type Setting } from './difference.js';

type LineOptions = {
  /** Columns to lay out in. */
  readonly width: number;
  /** Runs that did not get to their end are left as they are: only a launch starts them again. */
  readonly leavesBroken: boolean;
};

/** `3 new runs, 7 with a larger budget, 2 with other settings`; empty: none of it. */
export function differenceSummary({ changes }: Difference): string {
  const count = (test: (change: Change) => boolean) => changes.filter(test).length;
  const [fresh, longer] = [count(({ kind }) => kind === 'new'), count(({ kind }) => kind === 'longer')];
  const other = count(({ kind, settings, state }) => kind === 'same' && settings.length > 0 && isQueued(state));
  return [
    ...(fresh === 0 ? [] : [`${fresh} new ${fresh === 1 ? 'run' : 'runs'}`]),
    ...(longer === 0 ? [] : [`${longer} with a larger budget`]),
    ...(other === 0 ? [] : [`${other} with other settings`]),
  ].join(', ');
}

/** What a launch would change, group by group, and what it would leave alone. Plain text. */
export function differenceLines(difference: Difference, options: LineOptions): string[] {
  const { changes } = difference;
  const groups = groupBy(changes, ({ run }) => run.group);
  const lines = [...groups].flatMap(([group, own]) => {
    const indent = ' '.repeat(group.length + 2);
    const texts = groupTexts(own, { ...options, width: options.width - indent.length });
    return texts.map((text, index) => `${index === 0 ? `${group}  ` : indent}${text}`);
  });
  return [...lines, ...absentLines(difference, options.width)];
}

function groupTexts(changes: readonly Change[], { width, leavesBroken }: LineOptions): string[] {
  const of = (kind: Change['kind']) => changes.filter((change) => change.kind === kind);
  const [fresh, again, same] = [of('new'), of('again'), of('same')];
  return [
    ...(fresh.length === 0 ? [] : [named(fresh, `${fresh.length} new: `, width)]),
    ...[...groupBy(of('longer'), ({ growth }) => growth!)].map(
      ([growth, runs]) => `${growth}: ${longerWords(runs, leavesBroken)}`,
    ),
    ...settingTexts(changes),
    ...(again.length === 0 ? [] : [againText(again, leavesBroken)]),
    ...(same.length === 0 ? [] : [`${same.length} unchanged: ${stateCounts(same)}`]),
  ];
}

function named(changes: readonly Change[], head: string, width: number): string {
  const names = changes.map(({ run }) => run.name);
  return head + compactNames(names, width - head.length);
}

/** What becomes of runs whose budget grew, by where they are. */
function longerWords(changes: readonly Change[], leavesBroken: boolean): string {
  const parts = groupBy(changes, ({ state }) => longerPart(state, leavesBroken));
  return [...parts].map(([part, runs]) => `${stateCounts(runs)} ${part}`).join('; ');
}

function longerPart(state: RunWord | null, leavesBroken: boolean): string {
  if (isQueued(state)) return 'to start with it';
  if (isUp(state)) return 'to continue with it after the present attempt';
  if (state === 'done') return 'to continue with it';
  return leavesBroken ? 'left as they are' : 'to be started again with it';
}

/** Settings that differ, with whom they find in time. */
function settingTexts(changes: readonly Change[]): string[] {
  const each = changes.flatMap((change) => change.settings.map((setting) => ({ change, text: settingText(setting) })));
  return [...groupBy(each, ({ text }) => text)].map(([text, found]) => {
    const runs = found.map(({ change }) => change);
    const [queued, up] = [runs.filter(({ state }) => isQueued(state)), runs.filter(({ state }) => !isQueued(state))];
    const longer = up.filter(({ kind }) => kind === 'longer');
    const kept = up.filter(({ kind }) => kind !== 'longer');
    const parts = [
      ...(queued.length === 0 ? [] : [`for ${stateCounts(queued)}`]),
      ...(longer.length === 0 ? [] : [`for ${stateCounts(longer)} from the next attempt on`]),
      ...(kept.length === 0 ? [] : [`not for ${stateCounts(kept)}, until launched again`]),
    ];
    return `${text}: ${parts.join('; ')}`;
  });
}

/** `retry: none → 3 retries`, `command changed`. */
function settingText({ key, was, now }: Setting): string {
  if (was === null && now === null) return `${key} changed`;
  return `${key} ${was ?? 'not set'} → ${now ?? 'not set'}`;
}

function againText(changes: readonly Change[], leavesBroken: boolean): string {
  const what = leavesBroken ? 'left as they are; a launch of the file starts them again' : 'to be started again';
  return `${stateCounts(changes)} ${what}`;
}

/** `2 queued, 1 running`, in the order of a run's life. */
function stateCounts(changes: readonly { readonly state: RunWord | null }[]): string {
  const counts = groupBy(changes, ({ state }) => state ?? 'unfinished');
  const inOrder = [...counts].sort(([a], [b]) => life.indexOf(a) - life.indexOf(b));
  return inOrder.map(([word, members]) => `${members.length} ${word}`).join(', ');
}

const life: readonly (RunWord | 'unfinished')[] = [
  ...(['held', 'queued', 'starting', 'running', 'paused', 'stopping', 'done'] as const),
  ...(['failed', 'killed', 'lost', 'unfinished'] as const),
];

function absentLines({ sweep, changes, absent }: Difference, width: number): string[] {
  if (absent.length === 0) return [];
  const head = `not in the file: ${counted(absent.length, 'run')} (`;
  const names = absent.map(({ name }) => name);
  const up = absent.filter(({ state }) => !hasEnded(state));
  const query = (runs: typeof absent) => queryOf(sweep, runs, new Set(changes.map(({ run }) => run.group)));
  const states = up.length === 0 ? '' : `, ${stateCounts(up)}`;
  return [
    `${head}${compactNames(names, width - head.length - 2)})${states}; they stay.`,
    ...(up.length === 0 ? [] : [`  to end them: memrl-tui kill '${query(up)}'`]),
    `  to hide them: filter by not (${query(absent)})`,
    ...renamedLines(absent),
  ];
}

/** What is there already is run again under another name, which is seldom meant. */
function renamedLines(absent: Difference['absent']): string[] {
  const renamed = absent.filter(({ isNow }) => isNow !== null);
  const [first] = renamed;
  if (first === undefined) return [];
  const others = renamed.length === 1 ? '' : ` and ${renamed.length - 1} more`;
  return [
    `  ${first.name}${others}: the file has a run with the same parameters, named ${first.isNow!}, which is started as a new one.`,
    '  Names hold what varies; `name` in the group chooses them.',
  ];
}

/** Chooses these runs and no others: by their group, where the file has nothing of it, else by name. */
function queryOf(sweep: string, runs: Difference['absent'], named: ReadonlySet<string>): string {
  const groups = [...new Set(runs.map(({ group }) => group))].filter((group) => !named.has(group));
  const names = runs.filter(({ group }) => named.has(group)).map(({ name }) => name);
  const parts = [
    ...(groups.length === 0 ? [] : [`group:${choices(groups)}`]),
    ...(names.length === 0 ? [] : [`name:${choices(names)}`]),
  ];
  const either = parts.length === 1 ? parts[0]! : `(${parts.join(' or ')})`;
  return `sweep:${choices([sweep])} ${either}`;
}

function choices(texts: readonly string[]): string {
  return texts.map((text) => (/^[\w.+@-]+$/.test(text) ? text : quote(text))).join(',');
}
