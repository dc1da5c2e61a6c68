import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { callProgram } from '../../processes/short-call.js';
import type { Notify } from '../../spec/planned-run.js';
import {
  type ChannelName,
  channelNames,
  type ChannelSetting,
  isWanted,
  type NotificationKind,
} from '../../spec/policy/notify-channels.js';
import type { Redact } from '../../text/redaction.js';

export type NotifierOptions = {
  /** The notification settings of a sweep, by its last submission; null: none. */
  notify: (sweep: string) => Notify | null;
  /** Environment of the sweep's submission, for the command. */
  environment: (sweep: string) => Readonly<Record<string, string>>;
  /** Redacts the sweep's secrets in messages and in the log. */
  redact: (sweep: string) => Redact;
  /** Writes to the supervisor's log. */
  log: (line: string) => void;
  now?: () => number;
  /** Time after a message in which further notifications of the same kind and sweep are collected, ms. */
  gatherMs?: number;
  /** Delays before the second and the third attempt of a webhook, ms. */
  backoffMs?: readonly number[];
};

/** Collected notifications of one kind and sweep. */
type Gathering = { waiting: Notification[]; timer: NodeJS.Timeout };
type Target = { name: string; send: (message: Message) => Promise<string | null> };

const GATHER_MS = 10_000;
const BACKOFF_MS = [1000, 4000];
/** Limit on the collected notifications that are kept in full. */
const MOST = 1000;

/**
 * Sends notifications to the channels that a sweep file names.
 *
 * It never disturbs runs: nothing here throws or blocks, a failing channel is logged once (until it works again), and many
 * notifications are combined: the first of its kind is sent at once, the others within 10 s as one message.
 *
 *     const notifier = new Notifier({ notify, environment, redact, log });
 *     notifier.notify({ kind: 'failed', sweep: 'abcd', run: 'A_s0', group: 'A', words: 'exit code 3', directory });
 *     notifier.notify({ kind: 'finished', sweep: 'abcd', words: '', counts: { done: 46, failed: 2 } });
 *     await notifier.close();
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #gathering = new Map<string, Gathering>();
  /** For each sweep, the messages in order, sent one after another. */
  readonly #queues = new Map<string, Promise<void>>();
  readonly #failing = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Sends a notification, now or together with others of its kind. Returns at once. */
  notify(notification: Notification): void {
    const wanted = this.#options.notify(notification.sweep);
    if (wanted === null || !isWanted(notification.kind, wanted.on) || this.#closing.signal.aborted) return;
    const key = `${notification.kind} ${notification.sweep}`;
    const gathering = this.#gathering.get(key);
    if (gathering !== undefined) {
      if (gathering.waiting.length < MOST) gathering.waiting.push(notification);
      return;
    }
    this.#gather(key);
    this.#send([notification]);
  }

  /** Sends what was collected, and waits until all is sent, or for `patienceMs`; then drops the rest. */
  async close(patienceMs = 5000): Promise<void> {
    for (const key of [...this.#gathering.keys()]) this.#endGathering(key);
    for (const { timer } of this.#gathering.values()) clearTimeout(timer);
    const giveUp = setTimeout(() => this.#closing.abort(), patienceMs);
    while (this.#queues.size > 0) await Promise.all(this.#queues.values());
    clearTimeout(giveUp);
    this.#closing.abort();
  }

  #gather(key: string): void {
    const timer = setTimeout(() => this.#endGathering(key), this.#options.gatherMs ?? GATHER_MS).unref();
    this.#gathering.set(key, { waiting: [], timer });
  }

  #endGathering(key: string): void {
    const { waiting, timer } = this.#gathering.get(key)!;
    clearTimeout(timer);
    this.#gathering.delete(key);
    const [first, ...others] = waiting;
    if (first === undefined) return;
    this.#gather(key);
    this.#send([first, ...others]);
  }

  #send(notifications: readonly [Notification, ...Notification[]]): void {
    const [{ sweep }] = notifications;
    const wanted = this.#options.notify(sweep);
    if (wanted === null) return;
    const redact = this.#options.redact(sweep);
    const now = this.#options.now ?? Date.now;
    const message = redacted(messageOf(notifications, hostname(), now()), redact);
    const targets = this.#targets(wanted, sweep);
    const sent = (this.#queues.get(sweep) ?? Promise.resolve()).then(async () => {
      await Promise.all(targets.map((target) => this.#deliver(target, message, redact)));
      if (this.#queues.get(sweep) === sent) this.#queues.delete(sweep);
    });
    this.#queues.set(sweep, sent);
  }

  #targets(wanted: Notify, sweep: string): Target[] {
    const { environment, log, backoffMs = BACKOFF_MS } = this.#options;
    const { signal } = this.#closing;
    const redact = this.#options.redact(sweep);
    return channelNames.flatMap((name) => {
      const heard = (line: string) => log(`notify ${name}: ${redact(line)}`);
      return targetOf(name, wanted[name], { environment: environment(sweep), heard, backoffMs, signal });
    });
  }

  async #deliver({ name, send }: Target, message: Message, redact: Redact): Promise<void> {
    const problem = await send(message);
    if (problem === null) {
      if (this.#failing.delete(name)) this.#options.log(`notify: ${name} works again`);
      return;
    }
    if (this.#failing.has(name)) return;
    this.#failing.add(name);
    this.#options.log(`notify: ${name} failed: ${redact(problem)} (reported once; runs are not affected)`);
  }
}

function redacted(message: Message, redact: Redact): Message {
  return {
    ...message,
    text: redact(message.text),
    runs: message.runs.map((run) => ({ ...run, words: redact(run.words) })),
  };
}

/** The target of a channel; empty if it is not configured. */
function targetOf<Name extends ChannelName>(
  name: Name,
  setting: ChannelSetting<Name> | null,
  context: ChannelContext,
): Target[] {
  if (setting === null) return [];
  const { label, send } = channels[name];
  return [{ name: label(setting), send: (message) => send(setting, message, context) }];
}

/** What a channel may need besides its setting. */
type ChannelContext = {
  /** Environment of the sweep's submission. */
  environment: Readonly<Record<string, string>>;
  /** Receives the other side's output, line by line. */
  heard: (line: string) => void;
  /** Delays between attempts, ms; there is one attempt more than delays. */
  backoffMs: readonly number[];
  /** Aborted when the supervisor ends. */
  signal: AbortSignal;
};

/** A channel for notifications. `label`: for the log, without secrets. `send`: returns what went wrong, or null; never rejects. */
type Channel<Setting> = {
  label: (setting: Setting) => string;
  send: (setting: Setting, message: Message, context: ChannelContext) => Promise<string | null>;
};

/** The channels by key of the sweep file. */
const channels: { readonly [Name in ChannelName]: Channel<ChannelSetting<Name>> } = {
  command: { label: ([program]) => `command ${program}`, send: runCommand },
  webhook: { label: (address) => `webhook ${originOf(address)}`, send: postWebhook },
};

/** Time limit of a command, ms. */
const COMMAND_MS = 30_000;
/** Limit on the lines of its output that are logged. */
const MOST_LINES = 50;

/**
 * Starts the command, without a shell, with the message as its last argument and as one line of JSON on its stdin. Returns what
 * went wrong, or null. Never rejects.
 */
async function runCommand(
  [program = '', ...words]: readonly string[],
  message: Message,
  { environment, heard, signal }: ChannelContext,
): Promise<string | null> {
  const end = await callProgram({
    ...{ program, args: [...words, message.text], input: `${JSON.stringify(message)}\n`, environment, signal },
    ...{ patienceMs: COMMAND_MS, tree: { leftovers: 'kept' } },
  });
  if (end.kind === 'unstartable') return end.why.includes('ENOENT') ? 'command not found' : end.why;
  const lines = end.stdout.toString('utf8').split('\n');
  for (const line of lines.filter((each) => each !== '').slice(0, MOST_LINES)) heard(line);
  if (end.kind === 'late')
    return signal.aborted ? 'the supervisor ended first' : `still running after ${COMMAND_MS / 1000} s`;
  if (end.kind === 'loud') return 'printed too much and was stopped';
  return end.code === 0 ? null : `ended with ${end.signal ?? `code ${end.code}`}`;
}

/** Time limit for a server's answer, ms. */
const ANSWER_MS = 10_000;

/**
 * Posts the message as JSON. Slack's webhooks (and Discord's, with `/slack` at the end) show its `text`; so does ntfy with
 * `?template=yes&message={{.text}}`. Retries if that may help. Returns what went wrong, or null. Never rejects.
 */
async function postWebhook(
  address: string,
  message: Message,
  { backoffMs, signal }: ChannelContext,
): Promise<string | null> {
  if (!/^https?:\/\//i.test(address)) return 'its address begins with neither http:// nor https://';
  const body = JSON.stringify(message);
  let tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  for (const pause of backoffMs) {
    if (tried.problem === null || !tried.isWorthAnother || signal.aborted) break;
    await wait(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return 'the supervisor ended first';
    tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  }
  return tried.problem;
}

async function tryOnce(
  address: string,
  body: string,
  signal: AbortSignal,
): Promise<{ problem: string | null; isWorthAnother: boolean }> {
  try {
    const headers = { 'content-type': 'application/json', 'user-agent': 'memrl-tui' };
    const response = await fetch(address, { method: 'POST', headers, body, signal });
    await response.body?.cancel();
    if (response.ok) return { problem: null, isWorthAnother: false };
    const isWorthAnother = response.status === 429 || response.status >= 500;
    return { problem: `it answered ${response.status} ${response.statusText}`.trim(), isWorthAnother };
  } catch (error) {
    const cause = (error as Error).cause;
    return { problem: cause instanceof Error ? cause.message : (error as Error).message, isWorthAnother: true };
  }
}

/** The host of a webhook, without the path, which is the secret of most webhooks. */
function originOf(webhook: string): string {
  return URL.canParse(webhook) ? new URL(webhook).host : 'address';
}

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
