import { hostname } from 'node:os';
import type { Redact } from '../../text/redaction.js';
import type { Notify } from '../../spec/planned-run.js';
import { type ChannelName, channelNames, type ChannelSetting } from '../../spec/policy/notify-channels.js';
import { type ChannelContext, channels } from './channels.js';
import { messageOf, type Message, type Notification } from './notification.js';

export type NotifierOptions = {
  /** Who wants to be told of what happens to that sweep; null: nobody. `Plan.notify` of what was submitted last. */
  notify: (sweep: string) => Notify | null;
  /** Environment of the sweep's submit, for the command. */
  environment: (sweep: string) => Readonly<Record<string, string>>;
  /** Takes the sweep's secrets out of what is sent and logged. */
  redact: (sweep: string) => Redact;
  /** Of the supervisor. */
  log: (line: string) => void;
  now?: () => number;
  /** Notifications of one kind and sweep within this time of a message are sent together, ms. */
  gatherMs?: number;
  /** Wait before the second try of a webhook, and before the third, ms. */
  backoffMs?: readonly number[];
};

/** Notifications of one kind and sweep that wait for the end of the window. */
type Gathering = { waiting: Notification[]; timer: NodeJS.Timeout };
type Target = { name: string; send: (message: Message) => Promise<string | null> };

const GATHER_MS = 10_000;
const BACKOFF_MS = [1000, 4000];
/** So many are kept word for word while they are gathered; more are too many to read. */
const MOST = 1000;

/**
 * Tells the channels that a sweep file names what happens, for people who are not looking.
 *
 * Runs are never disturbed by it: nothing here throws or blocks, a target that fails is named in the log once (until it
 * works again), and a storm is summed up: the first notification of its kind goes out at once, what follows within 10 s as one.
 *
 *     const notifier = new Notifier({ notify, environment, redact, log });
 *     notifier.notify({ kind: 'failed', sweep: 'abcd', run: 'A_s0', group: 'A', words: 'exit code 3', directory });
 *     notifier.notify({ kind: 'finished', sweep: 'abcd', words: '', counts: { done: 46, failed: 2 } });
 *     await notifier.close();
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #gathering = new Map<string, Gathering>();
  /** Per sweep, one message after the other, in the order of what happened. */
  readonly #queues = new Map<string, Promise<void>>();
  readonly #failing = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Sends it, now or together with others of its kind. Returns at once. */
  notify(notification: Notification): void {
    const wanted = this.#options.notify(notification.sweep);
    if (wanted === null || !wanted.on.includes(notification.kind) || this.#closing.signal.aborted) return;
    const key = `${notification.kind} ${notification.sweep}`;
    const gathering = this.#gathering.get(key);
    if (gathering !== undefined) {
      if (gathering.waiting.length < MOST) gathering.waiting.push(notification);
      return;
    }
    this.#gather(key);
    this.#send([notification]);
  }

  /** Sends what was gathered, and waits until all is sent, or for `patienceMs`; then gives up what is still under way. */
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

/** Nothing where the channel is not wanted. */
function targetOf<Name extends ChannelName>(
  name: Name,
  setting: ChannelSetting<Name> | null,
  context: ChannelContext,
): Target[] {
  if (setting === null) return [];
  const { label, send } = channels[name];
  return [{ name: label(setting), send: (message) => send(setting, message, context) }];
}
