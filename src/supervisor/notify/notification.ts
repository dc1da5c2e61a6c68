import type { NotificationKind } from '../../spec/policy/notify-channels.js';

/** An event to notify users of. */
export type Notification = {
  kind: NotificationKind;
  sweep: string;
  /** Name of the run it is about; absent: it is about a group or the sweep. */
  run?: string;
  group?: string;
  /** One sentence or less, without names: `ValueError: bad shape`, `3 runs in a row failed within 10 s`. */
  words: string;
  /** Number of runs by state, for the summary at the end: `{ done: 46, failed: 2 }`. */
  counts?: Readonly<Record<string, number>>;
  /** The directory of the run, or of the sweep. */
  directory?: string;
};

/**
 * The message that is sent: one notification, or several of one kind and sweep. Sent as JSON; `text` alone suffices for a reader.
 */
export type Message = {
  text: string;
  kind: NotificationKind;
  sweep: string;
  host: string;
  /** ISO 8601. */
  at: string;
  runs: { name: string; group: string | null; words: string; directory: string | null }[];
  group: string | null;
  counts: Readonly<Record<string, number>> | null;
};

const verbs: Record<NotificationKind, string> = {
  failed: 'failed',
  done: 'done',
  finished: 'finished',
  held: 'held',
  nan: 'NaN in the metrics',
  diverging: 'diverging',
  diverged: 'diverged',
  collapsed: 'collapsed',
  limit: 'over its limit',
  disk: 'disk almost full',
  silent: 'silent',
  idle: 'idle GPU',
  slow: 'slow',
};

/** Number of names in a message before the rest is only counted. */
const NAMED = 5;

/** Combines notifications of one kind and one sweep into one message. `now`: Unix ms. */
export function messageOf(
  notifications: readonly [Notification, ...Notification[]],
  host: string,
  now: number,
): Message {
  const [{ kind, sweep, group }] = notifications;
  const last = notifications.at(-1)!;
  const runs = notifications.filter((each) => each.run !== undefined);
  return {
    text: `${sweep}: ${notifications.length === 1 ? single(last) : several(notifications)}`,
    ...{ kind, sweep, host, at: new Date(now).toISOString() },
    runs: runs.map((each) => ({
      ...{ name: each.run!, group: each.group ?? null, words: each.words, directory: each.directory ?? null },
    })),
    group: notifications.every((each) => each.group === group) ? (group ?? null) : null,
    counts: last.counts ?? null,
  };
}

function single({ kind, run, group, words, counts }: Notification): string {
  const subject = run ?? (group === undefined ? null : `group ${group}`);
  const head = [subject, verbs[kind]].filter((part) => part !== null).join(' ');
  return [head, ...(words === '' ? [] : [words]), ...(counts === undefined ? [] : [countWords(counts)])].join(' — ');
}

function several(notifications: readonly Notification[]): string {
  const { kind, counts } = notifications.at(-1)!;
  const names = [...new Set(notifications.map(({ run, group }) => run ?? group).filter((name) => name !== undefined))];
  const rest = names.length - NAMED;
  const list = `${names.slice(0, NAMED).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
  const what = notifications.every(({ run }) => run !== undefined)
    ? 'runs'
    : notifications.every(({ group }) => group)
      ? 'groups'
      : 'times';
  const head = `${notifications.length} ${what} ${verbs[kind]}${list === '' ? '' : `: ${list}`}`;
  const words = [...new Set(notifications.map((each) => each.words))];
  const same = words.length === 1 && words[0] !== '' ? ` — all: ${words[0]}` : '';
  return `${head}${same}${counts === undefined ? '' : ` — ${countWords(counts)}`}`;
}

function countWords(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}
